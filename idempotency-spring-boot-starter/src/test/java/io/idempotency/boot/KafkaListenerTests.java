package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.Toggle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.messaging.handler.annotation.Header;

class KafkaListenerTests extends MessageTests {

    private static ConsumerRecord<String, String> record(String value, @Nullable String key) {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("orders", 0, 0, null, value);
        if (key != null) {
            record.headers().add("Idempotency-Key", key.getBytes(StandardCharsets.UTF_8));
        }
        return record;
    }

    // Case 133.
    @Test
    void acknowledgeOnceTheResultIsStoredAndEveryDuplicate() {
        with(KafkaOrders.class, orders -> {
            Acks first = new Acks();
            real(orders).inside = () -> assertThat(first.count).hasValue(0);
            orders.on(record("a", "k"), first);
            assertThat(first.count).hasValue(1);

            Acks second = new Acks();
            orders.on(record("a", "k"), second);
            assertThat(second.count).hasValue(1);
            assertThat(real(orders).runs).hasValue(1);
        });
    }

    @Test
    void acknowledgeNothingWhenTheyFailOrDoNotAsk() {
        with(KafkaOrders.class, orders -> {
            Acks acknowledgment = new Acks();
            real(orders).inside = () -> {
                throw new IllegalStateException("no");
            };
            assertThatThrownBy(() -> orders.on(record("a", "k"), acknowledgment))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(acknowledgment.count).hasValue(0);
            real(orders).inside = () -> {};
            real(orders).acknowledges = false;
            orders.on(record("a", "k"), acknowledgment);
            assertThat(acknowledgment.count).hasValue(0);
        });
    }

    // Case 131.
    @Test
    void neverAcknowledgeWhatStillRuns() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        with(KafkaOrders.class, orders -> {
            real(orders).inside = () -> {
                entered.countDown();
                await(leave);
                throw new IllegalStateException("the first one fails");
            };
            CompletableFuture<Void> first = CompletableFuture.runAsync(() -> orders.on(record("a", "k"), new Acks()));
            await(entered);

            Acks second = new Acks();
            assertThatThrownBy(() -> orders.on(record("a", "k"), second))
                    .isInstanceOf(OperationInProgressException.class);
            assertThat(second.count).hasValue(0);
            leave.countDown();
            assertThatThrownBy(first::join).hasCauseInstanceOf(IllegalStateException.class);

            real(orders).inside = () -> {};
            orders.on(record("a", "k"), second);
            assertThat(second.count).hasValue(1);
        });
    }

    // What is observed changes nothing: nobody holds the acknowledgment back, and nobody gives another one.
    @Test
    void acknowledgeThemselvesWhileTheyAreObserved() {
        with(
                KafkaOrders.class,
                orders -> {
                    for (int i = 1; i <= 2; i++) {
                        Acks acknowledgment = new Acks();
                        real(orders).inside =
                                () -> assertThat(acknowledgment.count).hasValue(1);
                        orders.on(record("a", "k"), acknowledgment);
                        assertThat(acknowledgment.count).hasValue(1);
                        assertThat(real(orders).runs).hasValue(i);
                    }
                },
                "idempotency.mode=observe");
    }

    // Case 135.
    @Test
    void refuseMessagesWithoutAKey() {
        with(KafkaOrders.class, orders -> {
            for (String key : new String[] {null, "", "  "}) {
                assertThatThrownBy(() -> orders.on(record("a", key), new Acks()))
                        .isInstanceOf(MissingIdempotencyKeyException.class);
            }
            assertThat(real(orders).runs).hasValue(0);
        });
    }

    @Test
    void takeTheIdentityOfACloudEvent() {
        with(KafkaOrders.class, orders -> {
            for (String source : List.of("shop", "shop", "desk")) {
                ConsumerRecord<String, String> event = record("a", null);
                event.headers().add("ce_id", "1".getBytes(StandardCharsets.UTF_8));
                event.headers().add("ce_source", source.getBytes(StandardCharsets.UTF_8));
                orders.on(event, new Acks());
            }
            assertThat(real(orders).runs).hasValue(2);
        });
    }

    @Test
    void compareThePayload() {
        with(KafkaOrders.class, orders -> {
            orders.on(record("a", "k"), new Acks());
            assertThatThrownBy(() -> orders.on(record("b", "k"), new Acks())).isInstanceOf(KeyReusedException.class);
        });
    }

    @Test
    void workOncePerGroup() {
        with(KafkaOrders.class, orders -> {
            try {
                for (String group : List.of("one", "two", "one")) {
                    KafkaUtils.setConsumerGroupId(group);
                    orders.on(record("a", "k"), new Acks());
                }
            } finally {
                KafkaUtils.clearConsumerGroupId();
            }
            assertThat(real(orders).runs).hasValue(2);
        });
    }

    // Observed or not: what they call may be protected.
    @ParameterizedTest
    @ValueSource(strings = {"enforce", "observe"})
    void giveTheirKeyToWhatTheyCall(String mode) {
        runner.withBean(Booking.class)
                .withBean(Booked.class)
                .withPropertyValues("idempotency.operations.booking-on.mode=" + mode)
                .run(context -> {
                    Booking booking = context.getBean(Booking.class);
                    booking.on("a", "k");
                    booking.on("a", "k");
                    booking.on("a", "j");
                    assertThat(real(context.getBean(Booked.class)).runs).hasValue(2);
                });
    }

    @Test
    void areDoneQuietlyWhereOnlyTheFactIsKept() {
        with(
                Replying.class,
                replying -> {
                    assertThat(replying.on("k", new Acks())).isEqualTo("reply 1");
                    Acks second = new Acks();
                    assertThat(replying.on("k", second)).isNull();
                    assertThat(second.count).hasValue(1);
                },
                "idempotency.store-result=false");
    }

    @Test
    void passOnWhatCallsInsideAreRefusedFor() {
        with(KafkaOrders.class, orders -> {
            Acks acknowledgment = new Acks();
            var notReplayable = new ResultNotReplayableException("a call inside was done before");
            real(orders).inside = () -> {
                throw notReplayable;
            };
            assertThatThrownBy(() -> orders.on(record("a", "k"), acknowledgment))
                    .isSameAs(notReplayable);
            assertThat(acknowledgment.count).hasValue(0);

            real(orders).inside = () -> {};
            orders.on(record("a", "k"), acknowledgment);
            assertThat(acknowledgment.count).hasValue(1);
            assertThat(real(orders).runs).hasValue(2);
        });
    }

    @Test
    void areDoneQuietlyWhereTheValueComesLaterAndOnlyTheFactIsKept() {
        with(
                LaterReplying.class,
                replying -> {
                    assertThat(replying.on("k").join()).isEqualTo("reply 1");
                    assertThat(replying.on("k").join()).isNull();
                    var notReplayable = new ResultNotReplayableException("a call inside was done before");
                    real(replying).failure = notReplayable;
                    assertThatThrownBy(() -> replying.on("j").join()).hasCause(notReplayable);
                    real(replying).failure = null;
                    assertThat(replying.on("j").join()).isEqualTo("reply 3");
                },
                "idempotency.store-result=false");
    }

    private static final class Acks implements Acknowledgment {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        public void acknowledge() {
            count.incrementAndGet();
        }
    }

    static class KafkaOrders {

        final AtomicInteger runs = new AtomicInteger();
        Runnable inside = () -> {};
        boolean acknowledges = true;

        @KafkaListener(topics = "orders", groupId = "declared")
        @Idempotent
        public void on(ConsumerRecord<String, String> record, Acknowledgment acknowledgment) {
            runs.incrementAndGet();
            if (acknowledges) {
                acknowledgment.acknowledge();
            }
            inside.run();
        }
    }

    static class Booking {

        private final Booked booked;

        Booking(Booked booked) {
            this.booked = booked;
        }

        @KafkaListener(topics = "orders", groupId = "booking")
        @Idempotent(storeResult = Toggle.OFF)
        public void on(String payload, @Header("Idempotency-Key") String key) {
            booked.book(payload);
        }
    }

    static class Booked {

        final AtomicInteger runs = new AtomicInteger();

        @Idempotent
        public String book(String what) {
            return what + runs.incrementAndGet();
        }
    }

    static class Replying {

        private final AtomicInteger runs = new AtomicInteger();

        @KafkaListener(topics = "orders", groupId = "replying")
        @Idempotent(key = "#id")
        public String on(String id, Acknowledgment acknowledgment) {
            return "reply " + runs.incrementAndGet();
        }
    }

    static class LaterReplying {

        private final AtomicInteger runs = new AtomicInteger();

        @Nullable
        RuntimeException failure;

        @KafkaListener(topics = "orders", groupId = "replying-later")
        @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
        public CompletableFuture<String> on(String id) {
            String reply = "reply " + runs.incrementAndGet();
            return failure == null
                    ? CompletableFuture.supplyAsync(() -> reply)
                    : CompletableFuture.failedFuture(failure);
        }
    }
}
