package io.idempotency.it.listeners;

import io.idempotency.IdempotencyContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** What listeners do with a message: mostly, they fail at some point. Attempts are counted by destination. */
public final class Work {

    private final Ledger ledger;
    private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
    private final Gate gate = new Gate();

    public Work(Ledger ledger) {
        this.ledger = ledger;
    }

    /** How often a message of this destination was worked on. */
    public int attempts(String destination) {
        return attemptsOf(destination).get();
    }

    /** Where {@link #failAtTheGate} is held. */
    public Gate gate() {
        return gate;
    }

    /** Nothing fails. */
    public void succeed(String destination, String entry) {
        attemptsOf(destination).incrementAndGet();
        ledger.write(destination, entry);
    }

    /** Every attempt takes longer than a lease of half a second, and has an effect only if that is still its own. */
    public void outliveItsLease(String destination, String entry) throws InterruptedException {
        attemptsOf(destination).incrementAndGet();
        TimeUnit.MILLISECONDS.sleep(2_000);
        IdempotencyContext.current().orElseThrow().ensureOwned();
        ledger.write(destination, entry);
    }

    /** The first attempt is over when its transaction is to be committed, and that fails. */
    public void failAtTheCommit(String destination, String entry) {
        ledger.write(destination, entry);
        if (isFirstAttempt(destination)) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    throw new IllegalStateException("no commit");
                }
            });
        }
    }

    /** The first attempt fails after its effect. */
    public void failAfterTheEffect(String destination, String entry) {
        ledger.write(destination, entry);
        if (isFirstAttempt(destination)) {
            throw new IllegalStateException("after the effect");
        }
    }

    /** The first two attempts fail before their effect. */
    public void failTwice(String destination, String entry) {
        int attempt = attemptsOf(destination).incrementAndGet();
        if (attempt < 3) {
            throw new IllegalStateException("attempt " + attempt);
        }
        ledger.write(destination, entry);
    }

    /** The first attempt waits at the {@link #gate}, then fails without an effect. */
    public void failAtTheGate(String destination, String entry) throws InterruptedException {
        if (isFirstAttempt(destination)) {
            gate.pass();
            throw new IllegalArgumentException("the first one fails");
        }
        ledger.write(destination, entry);
    }

    /** The first attempt loses its connection before it can acknowledge, as a consumer that dies does. */
    public void loseTheConnection(String destination, String entry, Runnable loss) {
        ledger.write(destination, entry);
        if (isFirstAttempt(destination)) {
            loss.run();
        }
    }

    /** Every attempt fails after its effect. */
    public void failAfterEveryEffect(String destination, String entry) {
        ledger.write(destination, entry);
        attemptsOf(destination).incrementAndGet();
        throw new IllegalStateException("who knows what has happened");
    }

    /** The first attempt fails after it has sent something on. */
    public void failAfterSending(String destination, Runnable send) {
        send.run();
        if (isFirstAttempt(destination)) {
            throw new IllegalStateException("after it has sent");
        }
    }

    private boolean isFirstAttempt(String destination) {
        return attemptsOf(destination).incrementAndGet() == 1;
    }

    private AtomicInteger attemptsOf(String destination) {
        return attempts.computeIfAbsent(destination, each -> new AtomicInteger());
    }
}
