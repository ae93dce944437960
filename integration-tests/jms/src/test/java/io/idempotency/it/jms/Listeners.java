package io.idempotency.it.jms;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import jakarta.jms.Message;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

@Component
class Listeners {

    private final Ledger ledger;
    private final Work work;

    volatile Runnable kill = () -> {};

    Listeners(Ledger ledger, Work work) {
        this.ledger = ledger;
        this.work = work;
    }

    // The inbox: the effect and the fact that it is done are one transaction.
    @JmsListener(destination = "inbox")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void inbox(String id) {
        work.failAfterTheEffect("inbox", id);
    }

    @JmsListener(destination = "flaky")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void flaky(String id) {
        work.failTwice("flaky", id);
    }

    @JmsListener(destination = "gated", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE, lease = "1s")
    public void gated(String id) throws InterruptedException {
        work.failAtTheGate("gated", id);
    }

    @JmsListener(destination = "killed")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void killed(String id) {
        work.loseTheConnection("killed", id, kill);
    }

    @JmsListener(destination = "uncommitted")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void uncommitted(String id) {
        work.failAtTheCommit("uncommitted", id);
    }

    // Its lease is renewed meanwhile.
    @JmsListener(destination = "slow", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE, lease = "500ms")
    public void slow(String id) throws InterruptedException {
        work.outliveItsLease("slow", id);
    }

    @JmsListener(destination = "reused")
    @Idempotent
    public void reused(String payload, @Header("Idempotency_Key") String key) {
        ledger.write("reused", payload);
    }

    @JmsListener(destination = "unknown")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_MOST_ONCE, lease = "300ms")
    public void unknown(String id) {
        work.failAfterEveryEffect("unknown", id);
    }

    @JmsListener(destination = "ids")
    @Idempotent
    public void ids(String payload, Message message) {
        ledger.write("ids", payload);
    }

    @JmsListener(destination = "children")
    @Idempotent
    public void children(String payload, Message message) {
        ledger.write("children", payload);
    }

    @JmsListener(destination = "optional")
    @Idempotent(required = Toggle.OFF)
    public void optional(String payload, Message message) {
        ledger.write("optional", payload);
    }

    @JmsListener(destination = "one")
    @Idempotent(key = "#id", operation = "both")
    public void one(String id) {
        ledger.write("both", "one " + id);
    }

    @JmsListener(destination = "two")
    @Idempotent(key = "#id", operation = "both")
    public void two(String id) {
        ledger.write("both", "two " + id);
    }
}
