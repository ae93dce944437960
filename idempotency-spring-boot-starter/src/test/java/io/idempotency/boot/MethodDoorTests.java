package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ReplayedFailureException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.UnknownCallerException;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;

/** Annotated methods of beans that are no controllers. */
@ExtendWith(OutputCaptureExtension.class)
class MethodDoorTests extends MethodTests {

    @Nested
    class Results {

        // Case 77.
        @Test
        void comeBackAsTheyWere() {
            with(Payments.class, payments -> {
                for (int i = 0; i < 2; i++) {
                    assertThat(payments.pay(new Payment("p-1", new BigDecimal("1.10"))))
                            .isEqualTo(new Receipt("p-1", new BigDecimal("1.10"), 1));
                    payments.nothing("k");
                    assertThat(payments.nullText("k")).isNull();
                    assertThat(payments.nullBoxed("k")).isNull();
                    assertThat(payments.empty("k")).isEmpty();
                    assertThat(payments.present("k")).contains("k");
                    assertThat(payments.zero("k")).isZero();
                    assertThat(payments.no("k")).isFalse();
                    assertThat(payments.list("k")).containsExactly(new Receipt("k", BigDecimal.ONE, 1));
                    assertThat(payments.none("k")).isEmpty();
                }
                assertThat(real(payments).runs)
                        .hasSize(10)
                        .allSatisfy((name, count) ->
                                assertThat(count.get()).as(name).isOne());
            });
        }

        // Case 68.
        @Test
        void areOfTheirOwnMethod() {
            with(Accounts.class, accounts -> {
                for (int i = 0; i < 2; i++) {
                    assertThat(accounts.debit("7")).isEqualTo("debit 7");
                    assertThat(accounts.credit("7")).isEqualTo("credit 7");
                    assertThat(accounts.run(7)).isEqualTo("int 7");
                    assertThat(accounts.run("7")).isEqualTo("text 7");
                }
                assertThat(real(accounts).runs).hasValue(4);
            });
        }

        // Case 68: two beans of one class are one operation, and so are methods that name the same.
        @Test
        void areSharedByBeansOfOneClass() {
            runner.withBean("one", Accounts.class)
                    .withBean("two", Accounts.class)
                    .run(context -> {
                        Accounts one = context.getBean("one", Accounts.class);
                        Accounts two = context.getBean("two", Accounts.class);

                        assertThat(one.debit("7")).isEqualTo(two.debit("7"));
                        assertThat(real(one).runs).hasValue(1);
                        assertThat(real(two).runs).hasValue(0);
                    });
        }

        // Case 82.
        @Test
        void thatCannotBeWrittenAreReturnedAndNeverRunAgain(CapturedOutput output) {
            with(Unwritable.class, service -> {
                assertThat(service.make("k").getName()).isEqualTo("made once");
                assertThatThrownBy(() -> service.make("k")).isInstanceOf(ResultNotReplayableException.class);
                assertThat(real(service).runs).hasValue(1);
                assertThat(output).contains("The result of operation unwritable-make cannot be written");
            });
        }

        @Test
        void areNotKeptWhereOnlyTheFactIs() {
            with(
                    Payments.class,
                    payments -> {
                        payments.pay(new Payment("p", BigDecimal.ONE));
                        assertThatThrownBy(() -> payments.pay(new Payment("p", BigDecimal.ONE)))
                                .isInstanceOf(ResultNotReplayableException.class);
                        payments.nothing("k");
                        payments.nothing("k");
                        assertThat(real(payments).runs.get("nothing")).hasValue(1);
                    },
                    "idempotency.store-result=false");
        }
    }

    @Nested
    class Stages {

        // Case 74.
        @Test
        void areStoredWhenTheyComplete() {
            with(Later.class, later -> {
                CompletableFuture<Receipt> first = later.future("k").toCompletableFuture();
                assertThatThrownBy(() -> later.future("k")).isInstanceOf(OperationInProgressException.class);
                assertThat(first).isNotDone();

                real(later).open.complete(new Receipt("k", BigDecimal.TEN, 1));

                assertThat(first.join()).isEqualTo(new Receipt("k", BigDecimal.TEN, 1));
                assertThat(later.future("k").toCompletableFuture().join())
                        .isEqualTo(new Receipt("k", BigDecimal.TEN, 1));
                assertThat(real(later).runs).hasValue(1);
            });
        }

        // Case 74.
        @Test
        void releaseTheKeyWhenTheyFail() {
            with(Later.class, later -> {
                CompletableFuture<Receipt> first = later.future("k").toCompletableFuture();
                real(later).open.completeExceptionally(new IllegalStateException("no"));

                assertThatThrownBy(first::get).hasCause(new IllegalStateException("no"));
                real(later).open = CompletableFuture.completedFuture(new Receipt("k", BigDecimal.ONE, 2));
                assertThat(later.future("k").toCompletableFuture().join().run()).isEqualTo(2);
                assertThat(real(later).runs).hasValue(2);
            });
        }

        @Test
        void replayAStoredFailureAsAFailedStage() {
            with(Later.class, later -> {
                real(later).open.completeExceptionally(new IOException("gone"));

                assertThatThrownBy(() -> later.failing("k").get()).hasCauseInstanceOf(IOException.class);
                assertThatThrownBy(() -> later.failing("k").get())
                        .hasCauseInstanceOf(IOException.class)
                        .hasRootCauseMessage("gone");
                assertThat(real(later).runs).hasValue(1);
            });
        }

        @Test
        void thatCannotBeginThrowAtOnce() {
            with(Later.class, later -> {
                assertThatThrownBy(() -> later.throwing("k")).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> later.throwing("k")).isInstanceOf(IllegalArgumentException.class);
                assertThat(real(later).runs).hasValue(2);
            });
        }

        @Test
        void joinAnOuterCallOfTheSameKey() {
            with(Later.class, later -> {
                real(later).open.complete(new Receipt("k", BigDecimal.ONE, 1));

                assertThat(later.outer("k").join().number()).isEqualTo("k");
                assertThat(later.outer("k").join().number()).isEqualTo("k");
                assertThat(real(later).runs).hasValue(1);
            });
        }

        @Test
        void keepTheirLeaseWhileTheyAreOpen() throws Exception {
            with(
                    Later.class,
                    later -> {
                        CompletableFuture<Receipt> first = later.future("k").toCompletableFuture();
                        sleepTwoLeases();
                        assertThatThrownBy(() -> later.future("k")).isInstanceOf(OperationInProgressException.class);
                        real(later).open.complete(new Receipt("k", BigDecimal.ONE, 1));
                        assertThat(first.join().number()).isEqualTo("k");
                        assertThat(real(later).runs).hasValue(1);
                    },
                    "idempotency.lease=500ms");
        }

        // Time itself is what this is about.
        private void sleepTwoLeases() {
            try {
                Thread.sleep(1_000);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Nested
    class Keys {

        // Case 66.
        @ParameterizedTest
        @ValueSource(strings = {"", "  "})
        void thatAreBlankAreRefusedBeforeTheClaim(String number) {
            with(Payments.class, payments -> {
                for (String each : new String[] {number, null}) {
                    assertThatThrownBy(() -> payments.pay(new Payment(each, BigDecimal.ONE)))
                            .isInstanceOf(InvalidIdempotencyKeyException.class);
                }
                assertThat(real(payments).runs).isEmpty();
            });
        }

        // Case 66.
        @Test
        void thatAreOptionalAndAbsentRunUnprotected() {
            with(Payments.class, payments -> {
                for (String number : new String[] {"", "  ", null}) {
                    payments.payOptional(new Payment(number, BigDecimal.ONE));
                    payments.payOptional(new Payment(number, BigDecimal.TEN));
                }
                payments.payOptional(null);
                assertThat(real(payments).runs.get("payOptional")).hasValue(7);
                payments.payOptional(new Payment("p", BigDecimal.ONE));
                payments.payOptional(new Payment("p", BigDecimal.ONE));
                assertThat(real(payments).runs.get("payOptional")).hasValue(8);
            });
        }

        @Test
        void thatNobodyBringsAreMissing() {
            with(
                    Ambient.class,
                    ambient -> assertThatThrownBy(ambient::pay).isInstanceOf(MissingIdempotencyKeyException.class));
        }

        @Test
        void meanTheTenantsOwn() {
            String[] tenant = {"a"};
            runner.withBean(Accounts.class)
                    .withBean(KeyScopeResolver.class, () -> operation -> tenant[0])
                    .run(context -> {
                        Accounts accounts = context.getBean(Accounts.class);
                        accounts.debit("7");
                        tenant[0] = "b";
                        accounts.debit("7");
                        accounts.debit("7");
                        assertThat(real(accounts).runs).hasValue(2);
                        tenant[0] = null;
                        assertThatThrownBy(() -> accounts.debit("7")).isInstanceOf(UnknownCallerException.class);
                    });
        }

        @Test
        void withOtherArgumentsAreReused() {
            with(Payments.class, payments -> {
                payments.pay(new Payment("p", new BigDecimal("1.0")));
                payments.pay(new Payment("p", new BigDecimal("1.00")));
                assertThatThrownBy(() -> payments.pay(new Payment("p", BigDecimal.TEN)))
                        .isInstanceOf(KeyReusedException.class);
                assertThat(real(payments).runs.get("pay")).hasValue(1);
            });
        }

        @Test
        void areComparedByWhatTheFingerprintNames() {
            with(Fingerprints.class, service -> {
                assertThat(service.byAmount(new Payment("p", BigDecimal.ONE), "a"))
                        .isEqualTo("a");
                assertThat(service.byAmount(new Payment("p", BigDecimal.ONE), "b"))
                        .isEqualTo("a");
                assertThatThrownBy(() -> service.byAmount(new Payment("p", BigDecimal.TEN), "a"))
                        .isInstanceOf(KeyReusedException.class);
                assertThat(service.byNothing("p", "a")).isEqualTo("a");
                assertThat(service.byNothing("p", "b")).isEqualTo("a");
                // What cannot be written cannot be compared.
                assertThat(service.incomparable("p", new Object(), new Unwritable.Made()))
                        .isEqualTo("p");
                assertThat(service.incomparable("p", "other", new Unwritable.Made()))
                        .isEqualTo("p");
            });
        }

        @Test
        void joinTheSameKeyOnTheSameStack() {
            with(Recursive.class, recursive -> {
                assertThat(recursive.outer("k")).isEqualTo("inner k");
                assertThat(recursive.outer("k")).isEqualTo("inner k");
                assertThat(real(recursive).runs).hasValue(1);
            });
        }
    }

    @Nested
    class Failures {

        // Case 76.
        @Test
        void passThroughUnchanged() {
            with(Failing.class, failing -> {
                for (Throwable failure : List.of(
                        new IllegalStateException("unchecked"),
                        new FileNotFoundException("checked"),
                        new AssertionError("error"))) {
                    real(failing).next = failure;
                    assertThatThrownBy(() -> failing.fail("k-" + failure.getMessage()))
                            .isSameAs(failure);
                }
                real(failing).next = new IllegalStateException("again");
                assertThatThrownBy(() -> failing.fail("k-unchecked")).isSameAs(real(failing).next);
            });
        }

        @Test
        void thatAreTheResultComeBackAsTheirOwnType() {
            with(Failing.class, failing -> {
                real(failing).next = new RefusedException("broke");
                assertThatThrownBy(() -> failing.stored("k")).isSameAs(real(failing).next);
                Throwable first = real(failing).next;
                real(failing).next = new IllegalStateException("must not run");

                assertThatThrownBy(() -> failing.stored("k"))
                        .isNotSameAs(first)
                        .isExactlyInstanceOf(RefusedException.class)
                        .hasMessage("broke")
                        .satisfies(replayed -> assertThat(replayed.getSuppressed())
                                .hasOnlyElementsOfType(ReplayedFailureException.class));
                assertThat(real(failing).runs).hasValue(1);
            });
        }

        @Test
        void withoutAMessageComeBackWithoutOne() {
            with(Failing.class, failing -> {
                real(failing).next = new RefusedException(null);
                assertThatThrownBy(() -> failing.stored("k")).isSameAs(real(failing).next);
                assertThatThrownBy(() -> failing.stored("k"))
                        .isExactlyInstanceOf(RefusedException.class)
                        .hasMessage(null);
            });
        }

        @Test
        void thatCannotBeRebuiltComeBackWithTheirTypeAndMessage() {
            with(Failing.class, failing -> {
                // Of a subclass, and of a class that is not made of a message alone.
                for (RuntimeException failure : List.of(new MoreRefusedException(), new CodedException(7))) {
                    String key = failure.getClass().getSimpleName();
                    real(failing).next = failure;
                    assertThatThrownBy(() -> failing.stored(key)).isSameAs(failure);
                    assertThatThrownBy(() -> failing.stored(key))
                            .isInstanceOfSatisfying(ReplayedFailureException.class, replayed -> {
                                assertThat(replayed.failureType())
                                        .isEqualTo(failure.getClass().getName());
                                assertThat(replayed).hasMessage(failure.getMessage());
                            });
                }
            });
        }

        @Test
        void areHeldUnderAtMostOnceUnlessTheyAreNamed() {
            with(Failing.class, failing -> {
                real(failing).next = new IllegalStateException("who knows");
                assertThatThrownBy(() -> failing.once("k")).isSameAs(real(failing).next);
                assertThatThrownBy(() -> failing.once("k")).isInstanceOf(OperationInProgressException.class);
                real(failing).next = new RefusedException("nothing happened");
                assertThatThrownBy(() -> failing.once("j")).isSameAs(real(failing).next);
                assertThatThrownBy(() -> failing.once("j")).isSameAs(real(failing).next);
                assertThat(real(failing).runs).hasValue(3);
            });
        }
    }

    // Case 84: what is stored is read whatever the application's mapper is told, by the next version as well.
    @Test
    void theApplicationsMapperSettingsDoNotReachTheRecords() {
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();
        List<com.fasterxml.jackson.databind.ObjectMapper> mappers = List.of(
                new com.fasterxml.jackson.databind.ObjectMapper()
                        .setPropertyNamingStrategy(com.fasterxml.jackson.databind.PropertyNamingStrategies.SNAKE_CASE)
                        .setSerializationInclusion(com.fasterxml.jackson.annotation.JsonInclude.Include.NON_NULL),
                new com.fasterxml.jackson.databind.ObjectMapper()
                        .enable(com.fasterxml.jackson.databind.SerializationFeature.WRITE_ENUMS_USING_INDEX)
                        .enable(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES));
        for (com.fasterxml.jackson.databind.ObjectMapper mapper : mappers) {
            var before = mapper.getSerializationConfig().getSerializationFeatures();
            runner.withBean(com.fasterxml.jackson.databind.ObjectMapper.class, () -> mapper)
                    .withBean(IdempotencyStore.class, () -> store)
                    .withPropertyValues("idempotency.store=auto")
                    .withBean(Payments.class)
                    .run(context -> assertThat(
                                    context.getBean(Payments.class).pay(new Payment("p", new BigDecimal("1.10"))))
                            .isEqualTo(new Receipt("p", new BigDecimal("1.10"), 1)));
            assertThat(mapper.getSerializationConfig().getSerializationFeatures())
                    .isEqualTo(before);
        }
    }

    // Two at once: one runs, the other is refused or gets its result.
    @Test
    void concurrentCallsOfOneKeyRunOnce() throws Exception {
        with(Slow.class, slow -> {
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> slow.work("k"));
            await(real(slow).entered);
            assertThatThrownBy(() -> slow.work("k")).isInstanceOf(OperationInProgressException.class);
            real(slow).leave.countDown();
            assertThat(first.join()).isEqualTo(slow.work("k"));
            assertThat(real(slow).runs).hasValue(1);
        });
    }

    static class Unwritable {

        final AtomicInteger runs = new AtomicInteger();

        static class Made {
            private boolean read;

            public String getName() {
                if (read) {
                    throw new IllegalStateException("only once");
                }
                return "made once";
            }

            public Made getSelf() {
                return this;
            }
        }

        @Idempotent(key = "#key")
        public Made make(String key) {
            runs.incrementAndGet();
            return new Made();
        }
    }

    static class Later {

        final AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Receipt> open = new CompletableFuture<>();

        @Lazy
        @Autowired
        @Nullable
        Later self;

        @Idempotent(key = "#key", operation = "later")
        public CompletionStage<Receipt> future(String key) {
            runs.incrementAndGet();
            return open;
        }

        @Idempotent(key = "#key", operation = "later")
        public CompletableFuture<Receipt> outer(String key) {
            return self.future(key).toCompletableFuture();
        }

        @Idempotent(key = "#key", storeFailures = IOException.class)
        public CompletableFuture<Receipt> failing(String key) {
            runs.incrementAndGet();
            return open;
        }

        @Idempotent(key = "#key")
        public CompletableFuture<Receipt> throwing(String key) {
            runs.incrementAndGet();
            throw new IllegalArgumentException("cannot begin");
        }
    }

    static class Fingerprints {

        @Idempotent(key = "#payment.number", fingerprint = "#payment.amount")
        public String byAmount(Payment payment, String note) {
            return note;
        }

        @Idempotent(key = "#key", fingerprintScheme = FingerprintScheme.NONE)
        public String byNothing(String key, String note) {
            return note;
        }

        @Idempotent(key = "#key")
        public String incomparable(String key, Object anything, Unwritable.Made made) {
            return key;
        }
    }

    static class Recursive {

        final AtomicInteger runs = new AtomicInteger();

        @Lazy
        @Autowired
        @Nullable
        Recursive self;

        @Idempotent(key = "#key", operation = "recursive")
        public String outer(String key) {
            assertThat(IdempotencyContext.current()).get().satisfies(context -> {
                assertThat(context.key()).isEqualTo("k");
                assertThat(context.operation()).isEqualTo("recursive");
            });
            return self.inner(key);
        }

        @Idempotent(key = "#key", operation = "recursive")
        public String inner(String key) {
            runs.incrementAndGet();
            return "inner " + key;
        }
    }

    static class RefusedException extends RuntimeException {

        public RefusedException(@Nullable String message) {
            super(message);
        }
    }

    static class MoreRefusedException extends RefusedException {

        MoreRefusedException() {
            super("more");
        }
    }

    static class CodedException extends RuntimeException {

        CodedException(int code) {
            super("code " + code);
        }
    }

    static class Failing {

        final AtomicInteger runs = new AtomicInteger();
        Throwable next = new IllegalStateException();

        private void throwNext() throws IOException {
            runs.incrementAndGet();
            if (next instanceof RuntimeException e) {
                throw e;
            }
            if (next instanceof Error e) {
                throw e;
            }
            throw (IOException) next;
        }

        @Idempotent(key = "#key", releaseFailures = Error.class)
        public String fail(String key) throws IOException {
            throwNext();
            return key;
        }

        @Idempotent(
                key = "#key",
                storeFailures = {RefusedException.class, CodedException.class})
        public String stored(String key) throws IOException {
            throwNext();
            return key;
        }

        @Idempotent(key = "#key", guarantee = Guarantee.AT_MOST_ONCE, releaseFailures = RefusedException.class)
        public String once(String key) throws IOException {
            throwNext();
            return key;
        }
    }

    static class Slow {

        final AtomicInteger runs = new AtomicInteger();
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);

        @Idempotent(key = "#key")
        public String work(String key) {
            entered.countDown();
            await(leave);
            return String.valueOf(runs.incrementAndGet());
        }
    }
}
