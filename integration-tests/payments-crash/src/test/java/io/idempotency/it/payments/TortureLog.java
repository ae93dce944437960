package io.idempotency.it.payments;

import io.idempotency.it.payments.child.Announcements;
import io.idempotency.spi.RecordId;
import io.idempotency.spring.web.HttpScope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** What all processes of a campaign have announced, the killed ones included. */
final class TortureLog {

    private final Map<String, Integer> lines = new HashMap<>();

    /** @param directory where the processes write to */
    TortureLog(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            files.filter(file -> file.getFileName().toString().startsWith("process-"))
                    .forEach(this::read);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(Path file) {
        // A killed process may have stopped in the middle of a character.
        try (Stream<String> text = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            text.filter(line -> line.startsWith("Announced: "))
                    .map(line -> line.startsWith(Announcements.CONNECTION_LOST) ? Announcements.CONNECTION_LOST : line)
                    .forEach(line -> lines.merge(line, 1, Integer::sum));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int takeovers(String key) {
        return lines.getOrDefault(Announcements.TAKEOVER + name(key), 0);
    }

    /** How many results of the key were told to a client and could not be stored. */
    int unstored(String key) {
        return lines.getOrDefault(Announcements.UNSTORED + name(key), 0);
    }

    private static String name(String key) {
        return Announcements.name(
                RecordId.of("payment-controller-pay", HttpScope.of(null, "", "POST", "/payments"), key));
    }

    long takeovers() {
        return number(Announcements.TAKEOVER);
    }

    long unstored() {
        return number(Announcements.UNSTORED);
    }

    long connectionsLost() {
        return number(Announcements.CONNECTION_LOST);
    }

    private long number(String of) {
        return lines.entrySet().stream()
                .filter(line -> line.getKey().startsWith(of))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
