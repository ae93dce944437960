package io.idempotency.it.amqp;

import com.rabbitmq.client.Channel;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

@Component
class Listeners {

    private final Ledger ledger;
    private final RabbitTemplate rabbit;

    final AtomicInteger inbox = new AtomicInteger();
    final AtomicInteger flaky = new AtomicInteger();
    final AtomicInteger gated = new AtomicInteger();
    final AtomicInteger killed = new AtomicInteger();
    final AtomicInteger relay = new AtomicInteger();
    final AtomicInteger unknown = new AtomicInteger();
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    final CountDownLatch manualEntered = new CountDownLatch(1);
    final CountDownLatch manualLeave = new CountDownLatch(1);

    Listeners(Ledger ledger, RabbitTemplate rabbit) {
        this.ledger = ledger;
        this.rabbit = rabbit;
    }

    // The inbox: the effect and the fact that it is done are one transaction.
    @RabbitListener(queues = "inbox")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void inbox(String id) {
        ledger.write("inbox", id);
        if (inbox.incrementAndGet() == 1) {
            throw new IllegalStateException("after the effect");
        }
    }

    @RabbitListener(queues = "manual", ackMode = "MANUAL")
    @Idempotent
    public void manual(Message message, Channel channel) throws IOException {
        ledger.write("manual", new String(message.getBody(), StandardCharsets.UTF_8));
        channel.basicAck(message.getMessageProperties().getDeliveryTag(), false);
    }

    @RabbitListener(queues = "manual-gated", ackMode = "MANUAL", concurrency = "2")
    @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
    public void manualGated(Message message, Channel channel) throws IOException, InterruptedException {
        manualEntered.countDown();
        manualLeave.await(60, TimeUnit.SECONDS);
        ledger.write("manual-gated", new String(message.getBody(), StandardCharsets.UTF_8));
        channel.basicAck(message.getMessageProperties().getDeliveryTag(), false);
    }

    @RabbitListener(queues = "flaky")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void flaky(String id) {
        if (flaky.incrementAndGet() < 3) {
            throw new IllegalStateException("attempt " + flaky.get());
        }
        ledger.write("flaky", id);
    }

    @RabbitListener(queues = "gated", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void gated(String id) throws InterruptedException {
        if (gated.incrementAndGet() == 1) {
            entered.countDown();
            leave.await(60, TimeUnit.SECONDS);
            throw new IllegalArgumentException("the first one fails");
        }
        ledger.write("gated", id);
    }

    // The first consumer loses its connection before it can acknowledge, as one that dies does.
    @RabbitListener(queues = "killed")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void killed(String id, Channel channel) {
        ledger.write("killed", id);
        if (killed.incrementAndGet() == 1) {
            channel.getConnection().abort();
        }
    }

    @RabbitListener(queues = "reused")
    @Idempotent
    public void reused(Message message) {
        ledger.write("reused", new String(message.getBody(), StandardCharsets.UTF_8));
    }

    @RabbitListener(queues = "unknown")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_MOST_ONCE, lease = "300ms")
    public void unknown(String id) {
        ledger.write("unknown", id);
        unknown.incrementAndGet();
        throw new IllegalStateException("who knows what has happened");
    }

    @RabbitListener(queues = "ids")
    @Idempotent
    public void ids(Message message) {
        ledger.write("ids", new String(message.getBody(), StandardCharsets.UTF_8));
    }

    @RabbitListener(queues = "headers")
    @Idempotent
    public void headers(String id, @Header(name = "Idempotency-Key", required = false) String key) {
        ledger.write("headers", id);
    }

    @RabbitListener(queues = "optional")
    @Idempotent(required = Toggle.OFF)
    public void optional(Message message) {
        ledger.write("optional", new String(message.getBody(), StandardCharsets.UTF_8));
    }

    @RabbitListener(queues = "relay")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void relay(String id) {
        rabbit.convertAndSend("", "relayed", id);
        if (relay.incrementAndGet() == 1) {
            throw new IllegalStateException("after it has sent");
        }
    }

    @RabbitListener(queues = "relayed")
    @Idempotent
    public void relayed(Message message) {
        ledger.write("relayed", new String(message.getBody(), StandardCharsets.UTF_8));
    }

    @RabbitListener(queues = "one")
    @Idempotent(key = "#id", operation = "both")
    public void one(String id) {
        ledger.write("both", "one " + id);
    }

    @RabbitListener(queues = "two")
    @Idempotent(key = "#id", operation = "both")
    public void two(String id) {
        ledger.write("both", "two " + id);
    }
}
