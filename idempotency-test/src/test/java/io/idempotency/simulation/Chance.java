package io.idempotency.simulation;

import java.util.List;
import java.util.Random;

/** The source of everything that happens by chance; the same seed gives the same. */
final class Chance {

    private final Random random;

    Chance(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
    }

    boolean in(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    long upTo(long most) {
        return most <= 0 ? 0 : (long) (random.nextDouble() * most);
    }

    int between(int least, int most) {
        return least + random.nextInt(most - least + 1);
    }

    double uniform() {
        return random.nextDouble();
    }

    long bits() {
        return random.nextLong();
    }

    <T> T oneOf(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
