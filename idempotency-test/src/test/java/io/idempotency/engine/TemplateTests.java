package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.Execution;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.IdempotentOperation;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.Mode;
import io.idempotency.ReplayedFailureException;
import io.idempotency.UnknownCallerException;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.RecordId;
import io.idempotency.support.ByteArrayResultCodec;
import io.idempotency.support.StringResultCodec;
import io.idempotency.test.RecordingListener;
import io.idempotency.test.RecordingListener.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the caller of a template gets, the first time and again. */
class TemplateTests extends LeasedTests {

    private static final IdempotentOperation<String> PAY =
            IdempotentOperation.named("pay", String.class).build();

    private final RecordingListener listener = new RecordingListener();
    private final IdempotencyEngine engine = IdempotencyEngine.on(store)
            .runtime(runtime)
            .listeners(List.of(listener))
            .build();
    private Mode mode = Mode.ENFORCE;

    @AfterEach
    void close() {
        engine.close();
    }

    private DefaultIdempotencyTemplate template(KeyScopeResolver scope) {
        return new DefaultIdempotencyTemplate(
                engine,
                operation -> settings(Guarantee.AT_LEAST_ONCE)
                        .storeFailures(operation.storeFailures())
                        .outcomePolicy(new DefaultOutcomePolicy(operation.storeFailures(), List.of()))
                        .build(),
                scope,
                List.of(new ByteArrayResultCodec(), new StringResultCodec()),
                operation -> mode);
    }

    private DefaultIdempotencyTemplate template() {
        return template(operation -> "");
    }

    private Execution<String> pay(String key) {
        return template().execute(PAY, key, () -> effect("paid"));
    }

    @Test
    void givesTheFirstResultAgain() {
        assertThat(pay("k")).isEqualTo(new Execution<>("paid", false));
        assertThat(template().execute(PAY, "k", () -> effect("paid twice"))).isEqualTo(new Execution<>("paid", true));
        assertThat(effects).hasValue(1);
    }

    @Test
    void writesResultsByTheFirstCodecThatSupportsTheirType() {
        template().execute(IdempotentOperation.named("pay", byte[].class).build(), "bytes", () -> new byte[] {1});
        template().execute(PAY, "text", () -> "1");

        assertThat(formatOf("bytes")).isEqualTo(new ByteArrayResultCodec().id());
        assertThat(formatOf("text")).isEqualTo(new StringResultCodec().id());
    }

    private String formatOf(String key) {
        return store.find(RecordId.of("pay", "", key)).orElseThrow().result().format();
    }

    @Test
    void refusesATypeThatNoCodecSupports() {
        IdempotentOperation<Integer> unsupported =
                IdempotentOperation.named("count", Integer.class).build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> template().execute(unsupported, "k", () -> 1))
                .withMessageContainingAll("java.lang.Integer", "count");
    }

    @Test
    void comparesPayloads() {
        template().execute(PAY, "k", new byte[] {1}, () -> effect("paid"));

        assertThat(template()
                        .execute(PAY, "k", new byte[] {1}, () -> effect("paid twice"))
                        .replayed())
                .isTrue();
        assertThatExceptionOfType(KeyReusedException.class)
                .isThrownBy(() -> template().execute(PAY, "k", new byte[] {2}, () -> effect("paid twice")));
        assertThat(effects).hasValue(1);
    }

    @Test
    void refusesAKeyThatIsBlankOrTooLong() {
        assertThat(pay("k".repeat(4096)).replayed()).isFalse();

        for (String key : List.of("", " ", "k".repeat(4097))) {
            assertThatExceptionOfType(InvalidIdempotencyKeyException.class).isThrownBy(() -> pay(key));
        }
        assertThatExceptionOfType(InvalidIdempotencyKeyException.class)
                .isThrownBy(() -> pay(" "))
                .withMessageContainingAll("pay", "blank");
        assertThatExceptionOfType(InvalidIdempotencyKeyException.class)
                .isThrownBy(() -> pay("k".repeat(4097)))
                .withMessageContainingAll("pay", "4096");
    }

    @Test
    void keepsCallersApartAndRefusesTheUnknown() {
        Execution<String> first = template(operation -> operation + " of alice").execute(PAY, "k", () -> effect("a"));
        Execution<String> second = template(operation -> operation + " of bob").execute(PAY, "k", () -> effect("b"));

        assertThat(first).isEqualTo(new Execution<>("a", false));
        assertThat(second).isEqualTo(new Execution<>("b", false));
        assertThat(store.find(RecordId.of("pay", "pay of alice", "k"))).isPresent();
        assertThatExceptionOfType(UnknownCallerException.class)
                .isThrownBy(() -> template(operation -> null).execute(PAY, "k", () -> effect("c")))
                .withMessageContaining("pay");
        assertThat(effects).hasValue(2);
    }

    @Test
    void passesOnWhatTheActionThrowsAndFreesTheKey() {
        IOException failure = new IOException("no");

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> template().execute(PAY, "k", failing(failure)))
                .isSameAs(failure);
        assertThat(pay("k").replayed()).isFalse();
    }

    private static Action<String, IOException> failing(IOException failure) {
        return () -> {
            throw failure;
        };
    }

    public static final class Declined extends IOException {

        private static final long serialVersionUID = 1L;

        public Declined(String message) {
            super(message);
        }
    }

    public static final class WithoutAMessage extends IOException {

        private static final long serialVersionUID = 1L;
    }

    @Test
    void throwsAStoredFailureAgainAsItsOwnType() {
        IdempotentOperation<String> operation = IdempotentOperation.named("pay", String.class)
                .storeFailures(WithoutAMessage.class, Declined.class)
                .build();
        Declined failure = new Declined("no money");
        assertThatExceptionOfType(Declined.class)
                .isThrownBy(() -> template().execute(operation, "k", failing(failure)))
                .isSameAs(failure);

        assertThatExceptionOfType(Declined.class)
                .isThrownBy(() -> template().execute(operation, "k", () -> effect("paid")))
                .isNotSameAs(failure)
                .withMessage("no money")
                .satisfies(again -> assertThat(again.getSuppressed())
                        .singleElement()
                        .isInstanceOfSatisfying(
                                ReplayedFailureException.class,
                                replayed -> assertThat(replayed.failureType()).isEqualTo(Declined.class.getName())));
        // Who does not know the type gets its name.
        assertThatExceptionOfType(ReplayedFailureException.class)
                .isThrownBy(() -> template().execute(PAY, "k", () -> effect("paid")))
                .withMessage("no money");
        assertThat(effects).hasValue(0);
    }

    @Test
    void saysWhichFailureItWasWhereThatCannotBeMadeOfAMessage() {
        IdempotentOperation<String> operation = IdempotentOperation.named("pay", String.class)
                .storeFailures(WithoutAMessage.class)
                .build();
        assertThatExceptionOfType(WithoutAMessage.class)
                .isThrownBy(() -> template().execute(operation, "k", failing(new WithoutAMessage())));

        assertThatExceptionOfType(ReplayedFailureException.class)
                .isThrownBy(() -> template().execute(operation, "k", () -> effect("paid")))
                .withMessage(null)
                .satisfies(replayed -> assertThat(replayed.failureType()).isEqualTo(WithoutAMessage.class.getName()));
    }

    @Test
    void enforcesWhereNobodySaysOtherwise() {
        var plain = new DefaultIdempotencyTemplate(
                engine,
                operation -> settings(Guarantee.AT_LEAST_ONCE).build(),
                operation -> "",
                List.of(new StringResultCodec()));

        plain.execute(PAY, "k", () -> effect("paid"));

        assertThat(plain.execute(PAY, "k", () -> effect("paid twice"))).isEqualTo(new Execution<>("paid", true));
    }

    @Test
    void onlyRunsTheActionWhereItIsOff() {
        mode = Mode.OFF;

        for (int i = 1; i <= 2; i++) {
            assertThat(pay("k")).isEqualTo(new Execution<>("paid", false));
            assertThat(effects).hasValue(i);
        }
        assertThat(store.size()).isZero();
        assertThat(listener.events()).isEmpty();
    }

    @Test
    void observesWithoutProtecting() {
        mode = Mode.OBSERVE;
        IllegalStateException failure = new IllegalStateException("no");

        assertThat(pay("k")).isEqualTo(new Execution<>("paid", false));
        assertThat(pay("k")).isEqualTo(new Execution<>("paid", false));
        assertThat(effects).hasValue(2);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> template().execute(PAY, "l", () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(pay("l")).isEqualTo(new Execution<>("paid", false));

        hears("executed", "replayed", "failed", "executed");
    }

    @Test
    void observesACallWithinACallOfTheSameKeyOnce() {
        mode = Mode.OBSERVE;

        Execution<String> outer = template().execute(PAY, "k", () -> {
            pay("other");
            return pay("k").value();
        });
        pay("k");

        assertThat(outer).isEqualTo(new Execution<>("paid", false));
        hears("executed", "executed", "replayed");
    }

    private void hears(String... outcomes) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .untilAsserted(() ->
                        assertThat(listener.events()).extracting(Event::detail).containsExactly(outcomes));
    }
}
