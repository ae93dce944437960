package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kills, freezes and cuts off processes of the sample, and kills their database, while clients pay; then waits until all is quiet,
 * asks for every key once more and compares all that was ever answered with the payments. Not a part of the build: see
 * {@code proof/torture}.
 *
 * <p>System properties: {@code torture.seconds} per campaign, {@code torture.guarantees} and {@code torture.databases}, separated by
 * commas. One line per campaign goes to {@code target/torture.txt}.
 */
class Torture {

    private static final Duration TIME = Duration.ofSeconds(Long.getLong("torture.seconds", 60));
    private static final Path REPORT = Path.of("target", "torture.txt");

    static List<Arguments> campaigns() {
        return selected("torture.databases", Database.class).stream()
                .flatMap(database -> selected("torture.guarantees", Guarantee.class).stream()
                        .map(guarantee -> Arguments.of(database, guarantee)))
                .toList();
    }

    private static <E extends Enum<E>> List<E> selected(String property, Class<E> type) {
        String names = System.getProperty(property);
        return names == null
                ? Arrays.stream(type.getEnumConstants())
                        .filter(it -> it != Guarantee.AUTO)
                        .toList()
                : Arrays.stream(names.split(","))
                        .map(name -> Enum.valueOf(type, name))
                        .toList();
    }

    @ParameterizedTest
    @MethodSource("campaigns")
    void historyIsThatOfTheGuarantee(Database database, Guarantee guarantee) throws IOException {
        TortureHistory history = new TortureHistory();
        try (var fleet = new TortureFleet(database, guarantee)) {
            try (var clients = new TortureClients(fleet, history)) {
                long end = System.nanoTime() + TIME.toNanos();
                while (System.nanoTime() < end) {
                    fleet.hurt();
                }
            }
            fleet.heal();
            TortureHistory.Verdict verdict = history.judge(fleet.anyone());

            String line =
                    "%s %s, %d s: %s; %s%n".formatted(database, guarantee, TIME.toSeconds(), fleet.wounds(), verdict);
            System.out.print(line);
            Files.writeString(REPORT, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            assertThat(verdict.lost())
                    .as("keys that were answered and are not paid")
                    .isEmpty();
            assertThat(verdict.differing()).as("keys with different answers").isEmpty();
            assertThat(verdict.silent())
                    .as("keys that are neither paid nor unknown")
                    .isEmpty();
            if (guarantee != Guarantee.AT_LEAST_ONCE) {
                assertThat(verdict.twice()).as("keys that were paid twice").isEmpty();
            }
            if (guarantee != Guarantee.AT_MOST_ONCE) {
                assertThat(verdict.unknown()).as("keys of an unknown outcome").isEmpty();
            }
        }
    }
}
