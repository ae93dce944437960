package io.idempotency.it.jms;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import jakarta.jms.Message;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

@Component
class Listeners {

    private final Ledger ledger;

    final AtomicInteger inbox = new AtomicInteger();
    final AtomicInteger flaky = new AtomicInteger();
    final AtomicInteger gated = new AtomicInteger();
    final AtomicInteger killed = new AtomicInteger();
    final AtomicInteger unknown = new AtomicInteger();
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    volatile Runnable kill = () -> {};

    Listeners(Ledger ledger) {
        this.ledger = ledger;
    }

    // The inbox: the effect and the fact that it is done are one transaction.
    @JmsListener(destination = "inbox")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void inbox(String id) {
        ledger.write("inbox", id);
        if (inbox.incrementAndGet() == 1) {
            throw new IllegalStateException("after the effect");
        }
    }

    @JmsListener(destination = "flaky")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE)
    public void flaky(String id) {
        if (flaky.incrementAndGet() < 3) {
            throw new IllegalStateException("attempt " + flaky.get());
        }
        ledger.write("flaky", id);
    }

    @JmsListener(destination = "gated", concurrency = "2")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_LEAST_ONCE, lease = "1s")
    public void gated(String id) throws InterruptedException {
        if (gated.incrementAndGet() == 1) {
            entered.countDown();
            leave.await(60, TimeUnit.SECONDS);
            throw new IllegalArgumentException("the first one fails");
        }
        ledger.write("gated", id);
    }

    // The first consumer loses its connection before it can acknowledge, as one that dies does.
    @JmsListener(destination = "killed")
    @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
    public void killed(String id) {
        ledger.write("killed", id);
        if (killed.incrementAndGet() == 1) {
            kill.run();
        }
    }

    @JmsListener(destination = "reused")
    @Idempotent
    public void reused(String payload, @Header("Idempotency_Key") String key) {
        ledger.write("reused", payload);
    }

    @JmsListener(destination = "unknown")
    @Idempotent(key = "#id", guarantee = Guarantee.AT_MOST_ONCE, lease = "300ms")
    public void unknown(String id) {
        ledger.write("unknown", id);
        unknown.incrementAndGet();
        throw new IllegalStateException("who knows what has happened");
    }

    @JmsListener(destination = "ids")
    @Idempotent
    public void ids(String payload, Message message) {
        ledger.write("ids", payload);
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
