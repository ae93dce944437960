package io.idempotency.it.kafka;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.it.listeners.Gate;
import io.idempotency.it.listeners.Work;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Listeners in transactions of Kafka. What they write into the database is in another one, which ends first. */
@Component
class TransactionalListeners {

    static final String[] TOPICS = {"ordered", "paid", "packed", "shipped", "queried", "answered"};

    private final KafkaTransactions kafka;
    private final Work work;
    private final Packing packing;

    final Gate gate = new Gate();

    TransactionalListeners(KafkaTransactions kafka, Work work, Packing packing) {
        this.kafka = kafka;
        this.work = work;
        this.packing = packing;
    }

    @KafkaListener(topics = "ordered", groupId = "ordered", containerFactory = "transactionalFactory")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void ordered(String id) {
        kafka.send("paid", id);
        work.failAfterTheEffect("ordered", id);
    }

    // The transaction of the database is committed, and that of Kafka is not.
    @KafkaListener(topics = "packed", groupId = "packed", containerFactory = "transactionalFactory")
    public void packed(String id) {
        packing.pack(id);
        work.failAfterSending("between the commits", () -> {});
    }

    @KafkaListener(
            topics = "queried",
            groupId = "queried",
            containerFactory = "transactionalFactory",
            concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void queried(String id) throws InterruptedException {
        kafka.send("answered", id);
        gate.pass();
        work.succeed("queried", id);
    }

    @Component
    static class Packing {

        private final KafkaTransactions kafka;
        private final Work work;

        Packing(KafkaTransactions kafka, Work work) {
            this.kafka = kafka;
            this.work = work;
        }

        @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
        public void pack(String id) {
            kafka.send("shipped", id);
            work.succeed("packed", id);
        }
    }
}
