package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What to torture.
 *
 * @param campaigns in their order
 * @param duration of each campaign
 * @param pause how long nobody is hurt after each wound, at most
 * @param rounds how often all campaigns are run
 * @param seed of the first campaign; each one that follows has the next number
 * @param report where a line for each campaign goes
 */
record TortureOptions(List<Campaign> campaigns, Duration duration, Duration pause, int rounds, long seed, Path report) {

    private static final String USAGE = """
            --database NAMES    of %s, separated by commas; all by default
            --guarantee NAMES   of EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE; all that a database can give by default
            --short             one campaign each on PostgreSQL, MariaDB and Redis, of 8 seconds
            --seconds NUMBER    per campaign, 60 by default
            --pause NUMBER      seconds after each wound in which nobody is hurt, at most, 1 by default
            --rounds NUMBER     how often all of that is done, 1 by default
            --seed NUMBER       which calls are made and what is done to whom; another one each time by default
            --report FILE       a line for each campaign is added to it; target/torture.txt of the module by default
            """.formatted(Arrays.toString(TortureTarget.values()));

    private static final List<Campaign> SHORT = List.of(
            new Campaign(TortureTarget.POSTGRESQL, Guarantee.EXACTLY_ONCE),
            new Campaign(TortureTarget.MARIADB, Guarantee.EXACTLY_ONCE),
            new Campaign(TortureTarget.REDIS, Guarantee.AT_MOST_ONCE));

    /** @throws IllegalArgumentException with the usage */
    static TortureOptions parse(List<String> words) {
        Set<TortureTarget> databases = EnumSet.allOf(TortureTarget.class);
        Set<Guarantee> guarantees = EnumSet.allOf(Guarantee.class);
        boolean inShort = false;
        Duration duration = Duration.ofSeconds(60);
        Duration pause = Duration.ofSeconds(1);
        int rounds = 1;
        long seed = ThreadLocalRandom.current().nextInt(1_000_000);
        Path report = Path.of("target", "torture.txt");
        Iterator<String> left = words.iterator();
        try {
            while (left.hasNext()) {
                String option = left.next();
                switch (option) {
                    case "--database" -> databases = names(TortureTarget.class, left.next());
                    case "--guarantee" -> guarantees = names(Guarantee.class, left.next());
                    case "--short" -> {
                        inShort = true;
                        duration = Duration.ofSeconds(8);
                    }
                    case "--seconds" -> duration = Duration.ofSeconds(Long.parseLong(left.next()));
                    case "--pause" -> pause = Duration.ofSeconds(Long.parseLong(left.next()));
                    case "--rounds" -> rounds = Integer.parseInt(left.next());
                    case "--seed" -> seed = Long.parseLong(left.next());
                    case "--report" -> report = Path.of(left.next());
                    default -> throw new IllegalArgumentException("There is no option " + option);
                }
            }
        } catch (NoSuchElementException e) {
            throw new IllegalArgumentException("The last option has no value.\n" + USAGE, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(e.getMessage() + "\n" + USAGE, e);
        }
        List<Campaign> campaigns = inShort ? SHORT : campaigns(databases, guarantees);
        if (campaigns.isEmpty()) {
            throw new IllegalArgumentException("None of these databases can give such a guarantee.\n" + USAGE);
        }
        return new TortureOptions(campaigns, duration, pause, rounds, seed, report.toAbsolutePath());
    }

    private static <E extends Enum<E>> Set<E> names(Class<E> type, String text) {
        Set<E> names = EnumSet.noneOf(type);
        for (String name : text.toUpperCase(Locale.ROOT).split(",")) {
            names.add(Enum.valueOf(type, name));
        }
        return names;
    }

    private static List<Campaign> campaigns(Set<TortureTarget> databases, Set<Guarantee> guarantees) {
        return databases.stream()
                .flatMap(target -> target.guarantees().stream()
                        .filter(guarantees::contains)
                        .map(guarantee -> new Campaign(target, guarantee)))
                .toList();
    }

    /** One guarantee on one database. */
    record Campaign(TortureTarget target, Guarantee guarantee) {}
}
