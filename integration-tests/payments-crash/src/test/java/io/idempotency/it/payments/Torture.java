package io.idempotency.it.payments;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.idempotency.Guarantee;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Kills, freezes and cuts off processes of the sample, and what it keeps its data in, while clients pay; then waits until all is
 * quiet, asks for every key once more and compares all that was ever answered with the payments. See {@code proof/torture/run}.
 */
final class Torture {

    private final TortureOptions options;
    private boolean held = true;

    private Torture(TortureOptions options) {
        this.options = options;
    }

    public static void main(String[] words) {
        ((Logger) LoggerFactory.getLogger("io.zonky")).setLevel(Level.WARN);
        Torture torture;
        try {
            torture = new Torture(TortureOptions.parse(List.of(words)));
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        torture.run();
        System.exit(torture.held ? 0 : 1);
    }

    private void run() {
        long seed = options.seed();
        for (int round = 0; round < options.rounds(); round++) {
            for (TortureOptions.Campaign campaign : options.campaigns()) {
                run(campaign.target(), campaign.guarantee(), seed++);
            }
        }
    }

    private void run(TortureTarget target, Guarantee guarantee, long seed) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS));
        report.put("database", target);
        report.put("guarantee", guarantee);
        report.put("seed", seed);
        report.put("seconds", options.duration().toSeconds());
        report.put("pause", options.pause().toSeconds());
        String verdict = "broken-off";
        try {
            Path directory;
            List<String> contradictions;
            try (TortureServers servers = target.start()) {
                directory = servers.database().directory();
                contradictions = torture(target, servers, guarantee, seed, report);
            }
            if (contradictions.isEmpty()) {
                verdict = "held";
                delete(directory);
            } else {
                verdict = "CONTRADICTED";
                contradictions.forEach(System.out::println);
                System.out.println("The logs of the processes are in " + directory);
            }
        } catch (RuntimeException e) {
            e.printStackTrace();
        } finally {
            held &= verdict.equals("held");
            report.put("verdict", verdict);
            write(report);
        }
    }

    private List<String> torture(
            TortureTarget target, TortureServers servers, Guarantee guarantee, long seed, Map<String, Object> report) {
        TortureHistory history = new TortureHistory();
        Random random = new Random(seed);
        try (var fleet = new TortureFleet(servers, target.processes(), guarantee, random)) {
            try (var clients = new TortureClients(fleet, history, seed)) {
                long end = System.nanoTime() + options.duration().toNanos();
                while (System.nanoTime() < end) {
                    fleet.hurt(options.pause());
                }
            }
            fleet.heal();
            report.put(
                    "calls",
                    history.statuses().values().stream()
                            .mapToLong(Number::longValue)
                            .sum());
            report.putAll(fleet.inflicted());
            history.statuses().forEach((status, count) -> report.put("status-" + status, count));

            Client client = fleet.anyone(random);
            history.drain(client);
            TortureLog log = new TortureLog(servers.database().directory());
            TortureVerdict verdict = history.judge(client, guarantee, log);
            report.put("connections-lost", log.connectionsLost());
            report.put("forgotten", servers.forgotten());
            report.put("keys", verdict.keys());
            report.put("effects", verdict.effects());
            report.put("takeovers", log.takeovers());
            report.put("unstored", log.unstored());
            report.put("twice", verdict.twice().size());
            report.put("excess", verdict.excess());
            report.put("differing", verdict.differing().size());
            report.put("lost", verdict.lost().size());
            report.put("unknown", verdict.unknown().size());
            report.put("silent", verdict.silent().size());
            return verdict.contradictions(guarantee, target.forgetsRecords() ? servers.forgotten() : 0);
        }
    }

    private void write(Map<String, Object> report) {
        String line = report.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" ", "", "\n"));
        System.out.print(line);
        try {
            Files.createDirectories(options.report().getParent());
            Files.writeString(options.report(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
