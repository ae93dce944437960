package io.idempotency.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real engine in a simulated world. {@code -Didempotency.test.seed=17} runs one seed and prints its course,
 * {@code -Didempotency.test.seeds=100000} runs that many.
 */
class SimulationTests {

    private static final long SEEDS = Long.getLong("idempotency.test.seeds", 3_000);
    private static final @Nullable Long ONE_SEED = Long.getLong("idempotency.test.seed");

    @Test
    void keepsEveryPromise() {
        if (ONE_SEED != null) {
            List<String> course = course(ONE_SEED, Weakness.NONE);
            course.forEach(System.out::println);
            assertThat(course.get(course.size() - 1)).isEqualTo("every promise was kept");
            return;
        }
        long attempts = 0;
        long replays = 0;
        long takeovers = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            World world = new World(seed, Weakness.NONE, false);
            try {
                world.run();
            } catch (Throwable e) {
                throw new AssertionError(
                        "Seed " + seed + " breaks a promise; -Didempotency.test.seed=" + seed + " runs it alone\n"
                                + String.join("\n", course(seed, Weakness.NONE)),
                        e);
            }
            attempts += world.history.attempts();
            replays += world.history.replays();
            takeovers += world.history.takeovers();
        }
        System.out.printf(
                "%d seeds, %d attempts, %d replays, %d takeovers, no violation%n", SEEDS, attempts, replays, takeovers);
        assertThat(attempts).isGreaterThan(SEEDS);
        assertThat(replays).isGreaterThan(SEEDS);
        assertThat(takeovers).isPositive();
    }

    private static List<String> course(long seed, Weakness weakness) {
        World world = new World(seed, weakness, true);
        try {
            world.run();
        } catch (Throwable e) {
            List<String> course = new ArrayList<>(world.history.trace());
            course.add(e.toString());
            return course;
        }
        List<String> course = new ArrayList<>(world.history.trace());
        course.add("every promise was kept");
        return course;
    }

    @Test
    void sameSeedTakesTheSameCourse() {
        for (long seed = 1; seed <= 30; seed++) {
            assertThat(course(seed, Weakness.NONE)).as("seed %s", seed).isEqualTo(course(seed, Weakness.NONE));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void noticesWhatIsTakenAway(Weakness weakness) {
        List<String> found = new ArrayList<>();
        for (long seed = 1; seed <= 1_000 && found.isEmpty(); seed++) {
            try {
                new World(seed, weakness, false).run();
            } catch (History.Violation e) {
                found.add("seed " + seed + ": " + e.getMessage());
            } catch (Throwable e) {
                throw new AssertionError("Seed " + seed + " fails by itself", e);
            }
        }
        assertThat(found).as("a broken promise").isNotEmpty();
    }
}
