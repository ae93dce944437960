package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import io.idempotency.Idempotent;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.IdempotencyStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.annotation.RabbitListener;

class RabbitListenerTests extends MessageTests {

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
                await(leave);
            };
            CompletableFuture<Void> first = CompletableFuture.runAsync(() -> orders.on(message("a", "m"), untouched()));
            await(entered);
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
                            rejected -> assertThat(rejected.isRejectManual()).isTrue())
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
            assertThatThrownBy(() -> orders.on(message("a", "m"), untouched())).isSameAs(reused);
        });
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
}
