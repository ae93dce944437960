package io.idempotency.it.amqp;

import com.rabbitmq.client.Channel;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import io.idempotency.it.listeners.Gate;
import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

@Component
class Listeners {

    private final Ledger ledger;
    private final Work work;
    private final RabbitTemplate rabbit;

    final Gate manualGate = new Gate();

    Listeners(Ledger ledger, Work work, RabbitTemplate rabbit) {
        this.ledger = ledger;
        this.work = work;
        this.rabbit = rabbit;
    }

    // The inbox: the effect and the fact that it is done are one transaction.
    @RabbitListener(queues = "inbox")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void inbox(String id) {
        work.failAfterTheEffect("inbox", id);
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
        manualGate.pass();
        ledger.write("manual-gated", new String(message.getBody(), StandardCharsets.UTF_8));
        channel.basicAck(message.getMessageProperties().getDeliveryTag(), false);
    }

    @RabbitListener(queues = "flaky")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void flaky(String id) {
        work.failTwice("flaky", id);
    }

    @RabbitListener(queues = "gated", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void gated(String id) throws InterruptedException {
        work.failAtTheGate("gated", id);
    }

    @RabbitListener(queues = "killed")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void killed(String id, Channel channel) {
        work.loseTheConnection("killed", id, () -> channel.getConnection().abort());
    }

    @RabbitListener(queues = "uncommitted")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void uncommitted(String id) {
        work.failAtTheCommit("uncommitted", id);
    }

    // Its lease is renewed meanwhile.
    @RabbitListener(queues = "slow", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE, lease = "500ms")
    public void slow(String id) throws InterruptedException {
        work.outliveItsLease("slow", id);
    }

    @RabbitListener(queues = "reused")
    @Idempotent
    public void reused(Message message) {
        ledger.write("reused", new String(message.getBody(), StandardCharsets.UTF_8));
    }

    @RabbitListener(queues = "unknown")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_MOST_ONCE, lease = "300ms")
    public void unknown(String id) {
        work.failAfterEveryEffect("unknown", id);
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
        work.failAfterSending("relay", () -> rabbit.convertAndSend("", "relayed", id));
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
