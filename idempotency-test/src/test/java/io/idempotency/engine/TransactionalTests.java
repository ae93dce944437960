package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A node on a store that says what it is told to, and work in transactions that note how they end. */
abstract class TransactionalTests {

    static final Owner ANOTHER = new Owner(new UUID(7, 7));

    final VirtualRuntime runtime = new VirtualRuntime();
    final ScriptedTransactionalStore store = new ScriptedTransactionalStore();
    final ScriptedTransactions transactions = new ScriptedTransactions(store.calls);
    final Node node = new Node(store, runtime);
    final AtomicInteger effects = new AtomicInteger();

    final OperationSettings.Builder settings() {
        return OperationSettings.of("pay", Guarantee.EXACTLY_ONCE).transactions(transactions);
    }

    final Call pay() {
        return call(settings().build(), "k", "10 EUR");
    }

    final String pay(String result) throws Throwable {
        return node.call(pay(), attempt -> effect(result));
    }

    final String effect(String result) {
        effects.incrementAndGet();
        store.calls.add("work");
        return result;
    }

    final Fingerprint fingerprint(String payload) {
        return call(settings().build(), "k", payload).fingerprint();
    }

    final ClaimResult done(String payload) {
        return new ClaimResult.Done(fingerprint(payload), ANOTHER, Node.result("of another"), Duration.ofHours(1));
    }

    final Optional<IdempotencyRecord> doneRecord() {
        return Optional.of(new IdempotencyRecord(
                pay().id(),
                "pay",
                Guarantee.EXACTLY_ONCE,
                true,
                fingerprint("10 EUR"),
                ANOTHER,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                null,
                Duration.ofHours(1),
                Node.result("of another"),
                null));
    }

    static void assertIsOfAnother(Completion completion) {
        assertThat(completion)
                .isInstanceOfSatisfying(
                        Completion.Replayed.class,
                        replayed -> assertThat(Node.text(replayed.result())).isEqualTo("of another"));
    }
}
