package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Idempotent;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.jms.annotation.JmsListener;

class JmsListenerTests extends MessageTests {

    private jakarta.jms.TextMessage message(@Nullable String key, String text) {
        return scripted(jakarta.jms.TextMessage.class, (called, arguments) -> switch (called) {
            case "getJMSMessageID" -> "ID:1";
            case "getObjectProperty" -> "Idempotency_Key".equals(arguments[0]) ? key : null;
            case "getText" -> text;
            default -> throw new UnsupportedOperationException(called);
        });
    }

    @Test
    void takeTheKeyPropertyBeforeTheMessageId() {
        jakarta.jms.TextMessage byId = message(null, "a");
        jakarta.jms.TextMessage byKey = message("k", "a");
        with(JmsOrders.class, orders -> {
            orders.on(byId);
            orders.on(byId);
            orders.on(byKey);
            orders.on(byKey);
            assertThat(real(orders).runs).hasValue(2);
        });
    }

    @Test
    void compareTheText() {
        with(JmsOrders.class, orders -> {
            orders.on(message("k", "a"));
            assertThatThrownBy(() -> orders.on(message("k", "b"))).isInstanceOf(KeyReusedException.class);
        });
    }

    // Case 131: a broker counts deliveries, so that each has to take its time.
    @Test
    void refuseWhatStillRunsAfterAPause() {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        with(
                JmsOrders.class,
                orders -> {
                    real(orders).inside = () -> {
                        entered.countDown();
                        await(leave);
                    };
                    CompletableFuture<Void> first = CompletableFuture.runAsync(() -> orders.on(message("k", "a")));
                    await(entered);
                    long start = System.nanoTime();

                    assertThatThrownBy(() -> orders.on(message("k", "a")))
                            .isInstanceOfSatisfying(
                                    OperationInProgressException.class,
                                    busy -> assertThat(Duration.ofNanos(System.nanoTime() - start))
                                            .isGreaterThanOrEqualTo(busy.retryAfter()));

                    leave.countDown();
                    first.join();
                },
                "idempotency.lease=1s");
    }

    static class JmsOrders {

        final AtomicInteger runs = new AtomicInteger();
        Runnable inside = () -> {};

        @JmsListener(destination = "orders")
        @Idempotent
        public void on(jakarta.jms.Message message) {
            runs.incrementAndGet();
            inside.run();
        }
    }
}
