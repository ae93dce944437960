package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LeaseTimeTests {

    // Case 51: each of the threads begins its rounds somewhere within a second.
    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void leaseOfAFractionOfASecondIsNeitherShorterNorLonger(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            Duration lease = Duration.ofMillis(400);

            Bench.race(10, index -> {
                for (int round = 0; round < 3; round++) {
                    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000_000));
                    RecordId id = freshId();
                    long start = System.nanoTime();
                    var first = request(id, Guarantee.AT_LEAST_ONCE, lease, LONG);
                    store.tryClaim(first);
                    sleepUntil(start, Duration.ofMillis(150));
                    ClaimResult early = store.tryClaim(leased(id));
                    boolean inTime =
                            System.nanoTime() - start < Duration.ofMillis(350).toNanos();
                    sleepUntil(start, Duration.ofMillis(900));
                    ClaimResult late = store.tryClaim(leased(id).takingOverFrom(first.owner()));

                    if (inTime) {
                        assertThat(early).isInstanceOf(ClaimResult.InProgress.class);
                    }
                    assertThat(late)
                            .isInstanceOfSatisfying(
                                    ClaimResult.Claimed.class,
                                    claimed -> assertThat(claimed.takeover()).isTrue());
                }
                return true;
            });
        }
    }

    private static void sleepUntil(long start, Duration after) {
        for (long left; (left = after.toNanos() - (System.nanoTime() - start)) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }
}
