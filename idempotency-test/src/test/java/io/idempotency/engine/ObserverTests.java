package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.support.InMemoryIdempotencyStore;
import io.idempotency.test.FaultyStore;
import io.idempotency.test.MutableClock;
import io.idempotency.test.RecordingListener;
import io.idempotency.test.RecordingListener.Event;
import io.idempotency.test.RecordingListener.Kind;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an observer finds out, and that the observed notice nothing of it. */
class ObserverTests {

    private final FaultyStore faulty = FaultyStore.around(InMemoryIdempotencyStore.onSystemClock());
    private final RecordingListener listener = new RecordingListener();
    private final IdempotencyEngine engine =
            IdempotencyEngine.on(faulty.store()).listeners(List.of(listener)).build();
    private final Observer observer = engine.observer();
    private final String key = UUID.randomUUID().toString();

    @AfterEach
    void close() {
        engine.close();
    }

    private static OperationSettings.Builder settings() {
        return OperationSettings.of("pay", Guarantee.AT_LEAST_ONCE);
    }

    private Call call(OperationSettings settings) {
        return Node.call(settings, key, "payload");
    }

    private Observation begin() {
        return observer.begin("pay", () -> call(settings().build()));
    }

    private void hears(String... outcomes) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(listener.events())
                        .filteredOn(event -> event.kind() == Kind.OBSERVED)
                        .extracting(Event::detail)
                        .containsExactly(outcomes));
    }

    @Test
    void freesAKeyThatWouldBeFree() {
        begin().threw(new IllegalStateException(), Disposition.UNDECIDED);
        begin().ended(Disposition.RELEASE);
        begin().ended(Disposition.STORE);
        begin();

        hears("failed", "failed", "executed", "replayed");
    }

    @Test
    void keepsAKeyWhoseOutcomeWouldBeUnknown() {
        begin().ended(Disposition.HOLD);
        begin();

        hears("failed", "in_progress");
    }

    // A transaction holds such a record, or a crash has left it behind.
    @Test
    void takesARecordWithoutALeaseForNoAnswer() {
        IdempotencyStore records = faulty.store();
        IdempotencyStore store = (IdempotencyStore) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {IdempotencyStore.class},
                (proxy, method, arguments) -> method.getName().equals("find")
                        ? Optional.of(withoutLease((RecordId) arguments[0]))
                        : method.invoke(records, arguments));
        try (IdempotencyEngine other =
                IdempotencyEngine.on(store).listeners(List.of(listener)).build()) {
            other.observer().begin("pay", () -> call(settings().build())).ended(Disposition.STORE);

            hears("executed");
        }
    }

    private static IdempotencyRecord withoutLease(RecordId id) {
        return new IdempotencyRecord(
                id,
                "pay",
                Guarantee.EXACTLY_ONCE,
                false,
                Fingerprint.NONE,
                null,
                1,
                Instant.EPOCH,
                null,
                null,
                Duration.ofHours(1),
                null,
                null);
    }

    @Test
    void keepsWhatItSeesApartFromProtectedCalls() throws Throwable {
        begin().ended(Disposition.STORE);
        hears("executed");

        Completion protectedCall =
                engine.execute(call(settings().build()), attempt -> new Finish.Store(Node.result("done"), false));
        begin();
        begin().ended(Disposition.STORE);

        assertThat(protectedCall).isEqualTo(new Completion.Executed(true, false));
        hears("executed", "replayed", "replayed");
    }

    @Test
    void seesAProtectedCallThatRuns() throws Throwable {
        engine.execute(call(settings().build()), attempt -> {
            begin().ended(Disposition.STORE);
            hears("in_progress");
            return new Finish.Release();
        });
        begin().ended(Disposition.STORE);

        hears("in_progress", "executed");
    }

    @Test
    void tellsWhereADuplicateWouldBeRejected() {
        OperationSettings rejecting = settings().rejectDuplicates(true).build();
        observer.begin("pay", () -> call(rejecting)).ended(Disposition.STORE);
        observer.begin("pay", () -> call(rejecting));

        hears("executed", "duplicate_rejected");
    }

    @Test
    void takesOverFromACallThatVanished() {
        OperationSettings brief = settings()
                .lease(Duration.ofMillis(1))
                .maxExecution(Duration.ofMillis(1))
                .build();
        observer.begin("pay", () -> call(brief));
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            observer.begin("pay", () -> call(brief)).ended(Disposition.STORE);
            return listener.events().stream().anyMatch(event -> event.detail().equals("executed"));
        });
    }

    @Test
    void passesAPolicyThatFailsOrIsUndecided() {
        OperationSettings settings = settings()
                .outcomePolicy((failure, guarantee) -> {
                    if (failure instanceof IllegalArgumentException) {
                        throw new IllegalStateException("a policy that fails");
                    }
                    return Disposition.UNDECIDED;
                })
                .build();
        observer.begin("pay", () -> call(settings)).threw(new IllegalArgumentException(), Disposition.RELEASE);
        observer.begin("pay", () -> call(settings)).threw(new UnsupportedOperationException(), Disposition.RELEASE);
        observer.begin("pay", () -> call(settings)).threw(new IllegalArgumentException(), Disposition.STORE);
        observer.begin("pay", () -> call(settings));

        hears("failed", "failed", "executed", "replayed");
    }

    @Test
    void asksThePolicyWhatBecomesOfAFailure() {
        OperationSettings settings = settings()
                .outcomePolicy((failure, guarantee) -> Disposition.HOLD)
                .build();
        observer.begin("pay", () -> call(settings)).threw(new IllegalStateException(), Disposition.RELEASE);
        observer.begin("pay", () -> call(settings));

        hears("failed", "in_progress");
    }

    // Nobody renews what only an observer knows of.
    @ParameterizedTest
    @CsvSource({"PT30S, PT10M", "PT10M, PT30S"})
    void believesInACallAsLongAsItsLeaseWouldBeRenewed(Duration lease, Duration maxExecution) {
        MutableClock clock = new MutableClock();
        var records = new InMemoryIdempotencyStore(clock::nanoTime, clock, 10, 1000);
        OperationSettings settings =
                settings().lease(lease).maxExecution(maxExecution).build();
        try (IdempotencyEngine other =
                IdempotencyEngine.on(records).listeners(List.of(listener)).build()) {
            Supplier<Observation> begin = () -> other.observer().begin("pay", () -> call(settings));
            begin.get();
            await().atMost(Duration.ofSeconds(30)).until(() -> records.size() == 1);
            clock.advance(Duration.ofSeconds(599));
            begin.get();
            hears("in_progress");

            clock.advance(Duration.ofSeconds(2));
            begin.get().ended(Disposition.STORE);

            hears("in_progress", "executed");
        }
    }

    @Test
    void passesWhatAStoreDoesNotAnswer() {
        faulty.before("find").fail();
        begin().ended(Disposition.STORE);
        faulty.before("complete").fail();
        begin().ended(Disposition.STORE);
        begin();

        hears("store_unavailable", "executed", "in_progress");
    }

    @Test
    void countsRefusalsAndForgetsWhatFailsBeforeItsKey() {
        for (Observation nothing : List.of(
                observer.begin("pay", () -> null),
                observer.begin("pay", () -> {
                    throw new MissingIdempotencyKeyException("no key");
                }),
                observer.begin("pay", () -> {
                    throw new IllegalStateException("a resolver of the application");
                }))) {
            nothing.bind().close();
            nothing.threw(new IllegalStateException(), Disposition.RELEASE);
            nothing.ended(Disposition.STORE);
        }

        hears("key_missing");
    }

    @Test
    void observesACallOfTheSameKeyInsideAnotherOnce() throws Exception {
        Observation outer = begin();
        try (IdempotencyContext.Scope ignored = outer.bind()) {
            begin().ended(Disposition.STORE);
        }
        outer.ended(Disposition.STORE);
        begin();

        hears("executed", "replayed");
    }

    @Test
    void observesACallAgainAfterItsEndWithinAnother() throws Exception {
        Supplier<Observation> another =
                () -> observer.begin("pay", () -> Node.call(settings().build(), key + "-another", "payload"));
        try (IdempotencyContext.Scope ignored = begin().bind()) {
            Observation inner = another.get();
            inner.bind().close();
            inner.ended(Disposition.STORE);
            another.get();
        }

        hears("executed", "replayed");
    }

    @Test
    void wouldTakeOverFromAProtectedCallThatVanished() {
        MutableClock clock = new MutableClock();
        var records = new InMemoryIdempotencyStore(clock::nanoTime, clock, 10, 1000);
        try (IdempotencyEngine other =
                IdempotencyEngine.on(records).listeners(List.of(listener)).build()) {
            Call vanished = call(settings().build());
            records.tryClaim(vanished.claimBy(new Owner(UUID.randomUUID())));
            clock.advance(vanished.settings().lease());

            other.observer().begin("pay", () -> vanished).ended(Disposition.STORE);

            hears("executed");
        }
    }

    @Test
    void isStoppedWithItsEngine() {
        engine.close();

        begin();

        hears(Observer.UNOBSERVED);
    }

    @Test
    void letsNobodyWaitForASilentStore() {
        FaultyStore.Pause pause = faulty.before("find").pause();
        begin();
        pause.awaitReached();
        for (int i = 0; i < 5000; i++) {
            observer.begin(
                    "pay", () -> Node.call(settings().build(), UUID.randomUUID().toString(), ""));
        }
        assertThat(listener.events())
                .filteredOn(event -> event.detail().equals(Observer.UNOBSERVED))
                .hasSize(5000 - 4096);
        pause.resume();
    }
}
