package io.idempotency.it.kafka;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import io.idempotency.it.listeners.Gate;
import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

@Component
class Listeners {

    static final String[] TOPICS = {
        "inbox",
        "manual",
        "flaky",
        "gated",
        "headers",
        "optional",
        "outage",
        "groups",
        "slow",
        "retried",
        "reused",
        "relay",
        "relayed",
        "unread",
        "uncommitted",
        "recorded",
        "again",
        "overdue",
        "soak"
    };

    private final Ledger ledger;
    private final Work work;
    private final KafkaTemplate<String, String> kafka;

    final AtomicInteger retried = new AtomicInteger();
    final List<String> dead = new CopyOnWriteArrayList<>();
    final Gate overdue = new Gate();
    volatile boolean healthy;

    Listeners(Ledger ledger, Work work, KafkaTemplate<String, String> kafka) {
        this.ledger = ledger;
        this.work = work;
        this.kafka = kafka;
    }

    // The inbox: the effect and the fact that it is done are one transaction.
    @KafkaListener(topics = "inbox", groupId = "inbox")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void inbox(String id) {
        work.failAfterTheEffect("inbox", id);
    }

    @KafkaListener(topics = "manual", groupId = "manual", containerFactory = "manualFactory")
    @Idempotent
    public void manual(ConsumerRecord<String, String> record, Acknowledgment acknowledgment) {
        ledger.write("manual", record.value());
        acknowledgment.acknowledge();
    }

    @KafkaListener(topics = "flaky", groupId = "flaky")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void flaky(String id) {
        work.failTwice("flaky", id);
    }

    @KafkaListener(topics = "gated", groupId = "gated", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void gated(String id) throws InterruptedException {
        work.failAtTheGate("gated", id);
    }

    @KafkaListener(topics = "headers", groupId = "headers")
    @Idempotent
    public void headers(String id, @Header(name = "Idempotency-Key", required = false) String key) {
        ledger.write("headers", id);
    }

    @KafkaListener(topics = "optional", groupId = "optional")
    @Idempotent(required = Toggle.OFF)
    public void optional(ConsumerRecord<String, String> record) {
        ledger.write("optional", record.value());
    }

    @KafkaListener(topics = "outage", groupId = "outage")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void outage(String id) {
        ledger.write("outage", id);
    }

    @KafkaListener(topics = "groups", groupId = "one")
    @Idempotent(key = "#id")
    public void one(String id) {
        ledger.write("groups", "one " + id);
    }

    @KafkaListener(topics = "groups", groupId = "two")
    @Idempotent(key = "#id", operation = "listeners-one")
    public void two(String id) {
        ledger.write("groups", "two " + id);
    }

    // Its lease is renewed meanwhile.
    @KafkaListener(topics = "slow", groupId = "slow", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE, lease = "500ms")
    public void slow(String id) throws InterruptedException {
        work.outliveItsLease("slow", id);
    }

    @KafkaListener(topics = "uncommitted", groupId = "uncommitted")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void uncommitted(String id) {
        work.failAtTheCommit("uncommitted", id);
    }

    @KafkaListener(topics = "recorded", groupId = "recorded", containerFactory = "recordFactory")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void recorded(String id) {
        work.succeed("recorded", id);
    }

    @KafkaListener(id = "again", topics = "again", groupId = "again")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void again(String id) {
        work.succeed("again", id);
    }

    // The group takes a consumer for dead that does not ask for more within this time, and gives its record to the
    // other one.
    @KafkaListener(topics = "overdue", groupId = "overdue", concurrency = "2", properties = "max.poll.interval.ms=6000")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void overdue(String id) throws InterruptedException {
        overdue.pass();
        work.succeed("overdue", id);
    }

    @KafkaListener(topics = "relay", groupId = "relay")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void relay(String id) {
        work.failAfterSending("relay", () -> kafka.send("relayed", 0, null, id).join());
    }

    @KafkaListener(topics = "relayed", groupId = "relayed")
    @Idempotent
    public void relayed(ConsumerRecord<String, String> record) {
        ledger.write("relayed", record.value());
    }

    @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 100))
    @KafkaListener(topics = "retried", groupId = "retried")
    @Idempotent(key = "#id")
    public void retried(String id) {
        retried.incrementAndGet();
        if (!healthy) {
            throw new IllegalStateException("not yet");
        }
        ledger.write("retried", id);
    }

    @DltHandler
    public void dead(String id) {
        dead.add(id);
    }

    @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 100))
    @KafkaListener(topics = "reused", groupId = "reused")
    @Idempotent
    public void reused(ConsumerRecord<String, String> record) {
        ledger.write("reused", record.value());
    }

    @KafkaListener(id = "soak", topics = "soak", groupId = "soak", concurrency = "3")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void soak(String id) {
        ledger.write("soak", id);
    }
}
