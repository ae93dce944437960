package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.Toggle;
import io.idempotency.spi.IdempotencyStore;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.test.util.AopTestUtils;

/** Listeners as their containers call them: an exception means that the message comes again, a return that it is done. */
class MessageListenerTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJacksonAutoConfiguration.class,
                    IdempotencyMessagingAutoConfiguration.class))
            .withPropertyValues("idempotency.store=in-memory");

    private <T> void with(Class<T> type, Consumer<T> test, String... properties) {
        runner.withBean(type).withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(type));
        });
    }

    private static <T> T real(T proxy) {
        return AopTestUtils.getTargetObject(proxy);
    }

    private static ConsumerRecord<String, String> record(String value, @Nullable String key) {
        ConsumerRecord<String, String> record = new ConsumerRecord<>("orders", 0, 0, null, value);
        if (key != null) {
            record.headers().add("Idempotency-Key", key.getBytes(StandardCharsets.UTF_8));
        }
        return record;
    }

    @Nested
    class OfKafka {

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
                    MessageListenerTests.await(leave);
                    throw new IllegalStateException("the first one fails");
                };
                CompletableFuture<Void> first =
                        CompletableFuture.runAsync(() -> orders.on(record("a", "k"), new Acks()));
                MessageListenerTests.await(entered);

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
                assertThatThrownBy(() -> orders.on(record("b", "k"), new Acks()))
                        .isInstanceOf(KeyReusedException.class);
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
    }

    @Nested
    class OfRabbit {

        private Channel recorded(List<String> calls) {
            return scripted(Channel.class, (called, arguments) -> {
                calls.add(called + " " + Arrays.toString(arguments));
                return null;
            });
        }

        private Channel untouched() {
            return scripted(Channel.class, (called, arguments) -> {
                throw new UnsupportedOperationException(called);
            });
        }

        private Message message(String body, @Nullable String id) {
            MessageProperties properties = new MessageProperties();
            properties.setMessageId(id);
            properties.setConsumerQueue("orders");
            properties.setDeliveryTag(7);
            return new Message(body.getBytes(StandardCharsets.UTF_8), properties);
        }

        @Test
        void takeTheMessageIdAndAcknowledgeDuplicatesThemselves() {
            with(RabbitOrders.class, orders -> {
                List<String> calls = new ArrayList<>();
                orders.on(message("a", "m-1"), recorded(calls));
                assertThat(calls).isEmpty();
                orders.on(message("a", "m-1"), recorded(calls));
                assertThat(calls).containsExactly("basicAck [7, false]");
                orders.on(message("a", "m-2"), recorded(calls));
                assertThat(real(orders).runs).hasValue(2);
            });
        }

        // A second acknowledgment would close the channel.
        @Test
        void leaveDuplicatesToAContainerThatAcknowledges() {
            with(RabbitReplies.class, replies -> {
                replies.on(message("a", "m-1"), untouched());
                replies.on(message("a", "m-1"), untouched());
                assertThat(real(replies).runs).hasValue(1);
            });
        }

        // Case 131: back to the queue whatever the container's default is.
        @Test
        void requeueWhatStillRuns() throws Exception {
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch leave = new CountDownLatch(1);
            with(RabbitOrders.class, orders -> {
                real(orders).inside = () -> {
                    entered.countDown();
                    MessageListenerTests.await(leave);
                };
                CompletableFuture<Void> first =
                        CompletableFuture.runAsync(() -> orders.on(message("a", "m"), untouched()));
                MessageListenerTests.await(entered);
                List<String> calls = new ArrayList<>();
                assertThatThrownBy(() -> orders.on(message("a", "m"), recorded(calls)))
                        .isInstanceOf(ImmediateRequeueAmqpException.class)
                        .hasCauseInstanceOf(OperationInProgressException.class);
                assertThat(calls).containsExactly("basicNack [7, false, true]");
                leave.countDown();
                first.join();
            });
        }

        // A message is no dead letter because the store is away.
        @Test
        void requeueWhatTheStoreDoesNotAnswer() {
            IdempotencyStore silent = scripted(IdempotencyStore.class, (called, arguments) -> {
                if (called.equals("name")) {
                    return "own";
                }
                throw new StoreUnavailableException("away", null);
            });
            runner.withBean(IdempotencyStore.class, () -> silent)
                    .withBean(RabbitOrders.class)
                    .run(context -> {
                        RabbitOrders orders = context.getBean(RabbitOrders.class);
                        List<String> calls = new ArrayList<>();
                        assertThatThrownBy(() -> orders.on(message("a", "m"), recorded(calls)))
                                .isInstanceOf(ImmediateRequeueAmqpException.class)
                                .hasCauseInstanceOf(StoreUnavailableException.class);
                        assertThat(calls).containsExactly("basicNack [7, false, true]");
                        assertThat(real(orders).runs).hasValue(0);
                    });
        }

        @Test
        void leaveMessagesThatAreObservedToTheirListener() {
            with(
                    RabbitOrders.class,
                    orders -> {
                        orders.on(message("a", "m"), untouched());
                        orders.on(message("a", "m"), untouched());
                        orders.on(message("b", "m"), untouched());
                        assertThat(real(orders).runs).hasValue(3);
                    },
                    "idempotency.mode=observe");
        }

        @Test
        void rejectWhatCannotBecomeBetter() {
            with(RabbitOrders.class, orders -> {
                orders.on(message("a", "m"), untouched());
                assertThatThrownBy(() -> orders.on(message("b", "m"), untouched()))
                        .isInstanceOfSatisfying(
                                AmqpRejectAndDontRequeueException.class,
                                rejected ->
                                        assertThat(rejected.isRejectManual()).isTrue())
                        .hasCauseInstanceOf(KeyReusedException.class);
                assertThatThrownBy(() -> orders.on(message("b", null), untouched()))
                        .isInstanceOf(AmqpRejectAndDontRequeueException.class)
                        .hasCauseInstanceOf(MissingIdempotencyKeyException.class);
            });
        }

        @Test
        void passOnWhatCallsInsideAreRefusedFor() {
            with(RabbitOrders.class, orders -> {
                var reused = new KeyReusedException("a call inside");
                real(orders).inside = () -> {
                    throw reused;
                };
                assertThatThrownBy(() -> orders.on(message("a", "m"), untouched()))
                        .isSameAs(reused);
            });
        }
    }

    @Nested
    class OfJms {

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
                            MessageListenerTests.await(leave);
                        };
                        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> orders.on(message("k", "a")));
                        MessageListenerTests.await(entered);
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
    }

    @Nested
    class OfFunctions {

        @Test
        void takeTheHeadersOfSpringsMessages() {
            with(OrderFunction.class, function -> {
                org.springframework.messaging.Message<String> message = MessageBuilder.withPayload("a")
                        .setHeader("Idempotency-Key", "k")
                        .build();
                assertThat(function.apply(message)).isEqualTo("handled 1");
                assertThat(function.apply(message)).isEqualTo("handled 1");
                assertThat(function.apply(MessageBuilder.createMessage(
                                "a", new org.springframework.messaging.MessageHeaders(Map.of("Idempotency-Key", "j")))))
                        .isEqualTo("handled 2");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Batch.class, ListOfPayloads.class})
    void batchesAreRefusedAtStart(Class<?> listener) {
        runner.withBean(listener)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(listener.getName() + ".on is not supported, because the listener takes a batch"));
    }

    @Test
    void aListenerThatCannotSeeAKeyIsRefusedAtStart() {
        runner.withBean(PayloadOnly.class)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(PayloadOnly.class.getName()
                                + ".on is not supported, because the listener names no key"));
    }

    private static <T> T scripted(Class<T> type, BiFunction<String, Object[], @Nullable Object> script) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, called, arguments) -> script.apply(called.getName(), arguments)));
    }

    private static final class Acks implements Acknowledgment {

        private final AtomicInteger count = new AtomicInteger();

        @Override
        public void acknowledge() {
            count.incrementAndGet();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
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

    static class RabbitOrders {

        final AtomicInteger runs = new AtomicInteger();
        Runnable inside = () -> {};

        @RabbitListener(queues = "orders", ackMode = "MANUAL")
        @Idempotent
        public void on(Message message, Channel channel) {
            runs.incrementAndGet();
            inside.run();
        }
    }

    static class RabbitReplies {

        final AtomicInteger runs = new AtomicInteger();

        @RabbitListener(queues = "orders")
        @Idempotent
        public void on(Message message, Channel channel) {
            runs.incrementAndGet();
        }
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

    static class OrderFunction implements Function<org.springframework.messaging.Message<String>, String> {

        private final AtomicInteger runs = new AtomicInteger();

        @Override
        @Idempotent
        public String apply(org.springframework.messaging.Message<String> message) {
            return "handled " + runs.incrementAndGet();
        }
    }

    static class Batch {

        @KafkaListener(topics = "orders", batch = "true")
        @Idempotent(key = "#records")
        public void on(org.apache.kafka.clients.consumer.ConsumerRecords<String, String> records) {}
    }

    static class ListOfPayloads {

        @RabbitListener(queues = "orders")
        @Idempotent(key = "#payloads")
        public void on(List<String> payloads) {}
    }

    static class PayloadOnly {

        @KafkaListener(topics = "orders")
        @Idempotent
        public void on(String payload) {}
    }
}
