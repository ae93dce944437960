package io.idempotency.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.test.MutableClock;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A cache that is told before a record is removed, and does not answer when it is told again afterwards. */
class ForgetInTiersTests {

    private static final RecordId ID = RecordId.of("pay", "", "k");

    private final MutableClock clock = new MutableClock();
    private final AtomicInteger bars = new AtomicInteger();

    private static <T> T answering(Class<T> type, InvocationHandler answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers));
    }

    private TieredIdempotencyStore onADatabaseThatTakes(Duration time) {
        clock.advance(Duration.ofHours(1));
        ResultCache cache = answering(ResultCache.class, (proxy, method, arguments) -> {
            if (method.getName().equals("bar") && bars.incrementAndGet() == 2) {
                throw new StoreUnavailableException("silent", null);
            }
            return method.getName().equals("name") ? "redis" : null;
        });
        TransactionalStore database = answering(TransactionalStore.class, (proxy, method, arguments) -> {
            clock.advance(time);
            return true;
        });
        return TieredIdempotencyStore.builder(database, cache)
                .nanoTime(clock::nanoTime)
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT30S"})
    void keepsCopiesAwayWithWhatItWasToldBefore(Duration time) {
        try (TieredIdempotencyStore store = onADatabaseThatTakes(time)) {
            assertThat(store.forget(ID)).isTrue();
        }
        assertThat(bars).hasValue(2);
    }

    // A copy of what was read before the removal may have come when the cache no longer kept it away.
    @Test
    void mayAnswerWithWhatWasRemovedIfThatTookTooLong() {
        try (TieredIdempotencyStore store =
                onADatabaseThatTakes(Duration.ofSeconds(30).plusNanos(1))) {
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> store.forget(ID))
                    .withMessageContaining("forget it again")
                    .withMessageContaining("redis");
        }
    }
}
