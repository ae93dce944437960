package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ReplayedFailureException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.Toggle;
import io.idempotency.UnknownCallerException;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.AliasFor;

/** Annotated methods of beans that are no controllers. */
@ExtendWith(OutputCaptureExtension.class)
class MethodDoorTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJacksonAutoConfiguration.class))
            .withPropertyValues("idempotency.store=in-memory");

    private <T> void with(Class<T> type, Consumer<T> test, String... properties) {
        runner.withBean(type).withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(type));
        });
    }

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

    @Nested
    class Placement {

        // Case 70.
        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void onAnInterfaceHoldsWithEitherProxy(boolean proxyTargetClass) {
            runner.withBean("desk", DeskImplementation.class)
                    .withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                    .withInitializer(context -> AopConfigUtils.registerAutoProxyCreatorIfNecessary(
                            (BeanDefinitionRegistry) context.getBeanFactory()))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        @SuppressWarnings("unchecked")
                        Desk<Payment> desk = (Desk<Payment>) context.getBean("desk");
                        assertThat(AopUtils.isCglibProxy(desk)).isEqualTo(proxyTargetClass);
                        for (int i = 0; i < 2; i++) {
                            assertThat(desk.take(new Payment("p", BigDecimal.ONE)))
                                    .isEqualTo("taken 1");
                            assertThat(desk.byDefault("p")).isEqualTo("default 2");
                        }
                    });
        }

        // Case 70.
        @Test
        void asAMetaAnnotationHolds() {
            with(Meta.class, meta -> {
                assertThat(meta.pay("p")).isEqualTo("1");
                assertThat(meta.pay("p")).isEqualTo("1");
            });
        }

        // Case 70.
        @Test
        void onAClassMeansItsPublicMethods() {
            with(OnClass.class, service -> {
                for (int i = 0; i < 2; i++) {
                    assertThat(service.first("k")).isEqualTo("first 1");
                    assertThat(service.second("k")).isEqualTo("second 2");
                }
                assertThat(service.toString()).isEqualTo("me");
                assertThat(service.inner("k")).isEqualTo("inner 3");
                assertThat(service.inner("k")).isEqualTo("inner 4");
            });
        }

        // Case 70: a client is a proxy of its own behind an interface.
        @Test
        void onTheInterfaceOfAClientHolds() {
            AtomicInteger calls = new AtomicInteger();
            runner.withBean("client", Client.class, () -> (Client) java.lang.reflect.Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {Client.class},
                            (proxy, method, arguments) -> method.getName().equals("send")
                                    ? "sent " + calls.incrementAndGet()
                                    : method.invoke(calls, arguments)))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        Client client = context.getBean(Client.class);
                        assertThat(client.send("k")).isEqualTo("sent 1");
                        assertThat(client.send("k")).isEqualTo("sent 1");
                    });
        }

        @Test
        void onAProtectedMethodHolds() {
            with(Visible.class, visible -> {
                assertThat(visible.packagePrivate("k")).isEqualTo("1");
                assertThat(visible.packagePrivate("k")).isEqualTo("1");
                assertThat(visible.guarded("k")).isEqualTo("2");
                assertThat(visible.guarded("k")).isEqualTo("2");
            });
        }

        @Test
        void addsOneAdvisorAndCreatesNoBeanEarly() {
            AtomicInteger created = new AtomicInteger();
            runner.withBean(
                            "lazy",
                            Accounts.class,
                            () -> {
                                created.incrementAndGet();
                                return new Accounts();
                            },
                            definition -> definition.setLazyInit(true))
                    .run(context -> {
                        assertThat(created).hasValue(0);
                        Accounts accounts = context.getBean(Accounts.class);
                        assertThat(((Advised) accounts).getAdvisors())
                                .filteredOn(
                                        advisor -> advisor.getClass().getName().startsWith("io.idempotency"))
                                .hasSize(1);
                        assertThat(accounts.debit("7")).isEqualTo(accounts.debit("7"));
                        assertThat(real(accounts).runs).hasValue(1);
                    });
        }
    }

    @Nested
    class SelfInvocation {

        // Case 71.
        @Test
        void onThisIsNotProtectedAndSaysSo(CapturedOutput output) {
            with(SelfCalling.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(2);
                assertThat(output)
                        .contains(SelfCalling.class.getName() + ".outer calls inner: a call on this")
                        .contains(SelfCalling.class.getName() + ".inLambda calls inner: a call on this");
            });
        }

        // Case 71.
        @Test
        void throughAnInjectedReferenceIsProtected(CapturedOutput output) {
            with(SelfInjected.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(1);
                assertThat(output).doesNotContain("a call on this");
            });
        }

        // Case 71.
        @Test
        void throughTheTemplateIsProtected() {
            with(WithTemplate.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(1);
            });
        }
    }

    @Nested
    class Start {

        @ParameterizedTest
        @ValueSource(
                classes = {
                    Bad.Publisher.class,
                    Bad.PlainFuture.class,
                    Bad.RawStage.class,
                    Bad.StageOfObject.class,
                    Bad.AnyObject.class,
                    Bad.Wildcard.class,
                    Bad.AStream.class,
                    Bad.Suspending.class,
                    Bad.Abstract.class
                })
        void failsOnWhatCannotBeKept(Class<?> bean) {
            runner.withBean(bean)
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("@Idempotent on " + bean.getName()
                                    + ".make is not supported, because the method "));
        }

        @ParameterizedTest
        @ValueSource(classes = {Bad.Final.class, Bad.Private.class, Bad.Static.class})
        void failsOnWhatCannotBeIntercepted(Class<?> bean) {
            runner.withBean(bean)
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("@Idempotent on " + bean.getName() + ".make cannot be applied"));
        }

        @ParameterizedTest
        @ValueSource(classes = {Bad.UnknownParameter.class, Bad.NoExpression.class, Bad.UnknownFingerprint.class})
        void failsOnExpressionsThatCannotHaveAValue(Class<?> bean) {
            runner.withBean(bean).run(context -> {
                assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains("of @Idempotent on " + bean.getName() + ".make: the expression ");
                assertThat(StartupFailures.analysisOf(context).getAction()).contains("#order.id");
            });
        }

        @Test
        void acceptsAnythingWhereOnlyTheFactIsKept() {
            runner.withBean(Bad.AnyObject.class)
                    .withPropertyValues("idempotency.store-result=false")
                    .run(context -> assertThat(context).hasNotFailed());
        }

        @Test
        void failsWhereNothingIsProxied() {
            runner.withBean(Accounts.class)
                    .withPropertyValues("spring.aop.auto=false")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains("is not proxied"));
        }

        // Case 146.
        @Test
        void worksWithoutJacksonForWhatNeedsNone() {
            runner.withClassLoader(new FilteredClassLoader("tools.jackson", "com.fasterxml.jackson"))
                    .withBean(Accounts.class)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        Accounts accounts = context.getBean(Accounts.class);
                        assertThat(accounts.debit("7")).isEqualTo(accounts.debit("7"));
                    });
            runner.withClassLoader(new FilteredClassLoader("tools.jackson", "com.fasterxml.jackson"))
                    .withBean(Payments.class)
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains("needs Jackson to be kept, and the application has none"));
        }

        @Test
        void takesJackson2WhereThatIsWhatThereIs() {
            runner.withClassLoader(new FilteredClassLoader("tools.jackson"))
                    .withBean(Payments.class)
                    .run(context -> {
                        Payments payments = context.getBean(Payments.class);
                        assertThat(payments.pay(new Payment("p", BigDecimal.ONE)))
                                .isEqualTo(payments.pay(new Payment("p", BigDecimal.ONE)));
                        assertThat(real(payments).runs.get("pay")).hasValue(1);
                    });
        }

        @Test
        void tellsOneLinePerMethod(CapturedOutput output) {
            with(
                    Ambient.class,
                    ambient -> assertThat(output)
                            .contains("ambient-pay: AT_LEAST_ONCE in in-memory, lease 30s, retention 24h"));
        }

        @Test
        void switchesOneOperationOff() {
            with(
                    Accounts.class,
                    accounts -> {
                        accounts.debit("7");
                        accounts.debit("7");
                        assertThat(real(accounts).runs).hasValue(2);
                    },
                    "idempotency.operations.accounts-debit.mode=off");
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
                    .withBean(io.idempotency.spi.IdempotencyStore.class, () -> store)
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

    // A class proxy has the fields of its class and none of their values.
    private static <T> T real(T proxy) {
        return org.springframework.test.util.AopTestUtils.getTargetObject(proxy);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new CompletionException(e);
        }
    }

    public record Payment(@Nullable String number, BigDecimal amount) {}

    public record Receipt(String number, BigDecimal amount, int run) {}

    public static class Payments {

        final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

        private int ran(String name) {
            return runs.computeIfAbsent(name, absent -> new AtomicInteger()).incrementAndGet();
        }

        @Idempotent(key = "#payment.number")
        public Receipt pay(Payment payment) {
            return new Receipt(payment.number(), payment.amount(), ran("pay"));
        }

        @Idempotent(key = "#payment.number", required = Toggle.OFF)
        public void payOptional(@Nullable Payment payment) {
            ran("payOptional");
        }

        @Idempotent(key = "#key")
        public void nothing(String key) {
            ran("nothing");
        }

        @Idempotent(key = "#key")
        public @Nullable String nullText(String key) {
            ran("nullText");
            return null;
        }

        @Idempotent(key = "#key")
        public @Nullable Integer nullBoxed(String key) {
            ran("nullBoxed");
            return null;
        }

        @Idempotent(key = "#key")
        public Optional<String> empty(String key) {
            ran("empty");
            return Optional.empty();
        }

        @Idempotent(key = "#key")
        public Optional<String> present(String key) {
            ran("present");
            return Optional.of(key);
        }

        @Idempotent(key = "#key")
        public int zero(String key) {
            ran("zero");
            return 0;
        }

        @Idempotent(key = "#key")
        public boolean no(String key) {
            ran("no");
            return false;
        }

        @Idempotent(key = "#key")
        public List<Receipt> list(String key) {
            return List.of(new Receipt(key, BigDecimal.ONE, ran("list")));
        }

        @Idempotent(key = "#key")
        public List<Receipt> none(String key) {
            ran("none");
            return List.of();
        }
    }

    public static class Accounts {

        final AtomicInteger runs = new AtomicInteger();

        @Idempotent(key = "#id")
        public String debit(String id) {
            runs.incrementAndGet();
            return "debit " + id;
        }

        @Idempotent(key = "#id")
        public String credit(String id) {
            runs.incrementAndGet();
            return "credit " + id;
        }

        @Idempotent(key = "#id", operation = "run-int")
        public String run(int id) {
            runs.incrementAndGet();
            return "int " + id;
        }

        @Idempotent(key = "#id", operation = "run-text")
        public String run(String id) {
            runs.incrementAndGet();
            return "text " + id;
        }
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
        @org.springframework.beans.factory.annotation.Autowired
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

    static class Ambient {

        @Idempotent
        public String pay() {
            return "paid";
        }
    }

    static class Fingerprints {

        @Idempotent(key = "#payment.number", fingerprint = "#payment.amount")
        public String byAmount(Payment payment, String note) {
            return note;
        }

        @Idempotent(key = "#key", fingerprintScheme = io.idempotency.FingerprintScheme.NONE)
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
        @org.springframework.beans.factory.annotation.Autowired
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

    interface Desk<T> {

        @Idempotent(key = "#what.number")
        String take(T what);

        @Idempotent(key = "#id")
        default String byDefault(String id) {
            return "default " + next();
        }

        int next();
    }

    static class DeskImplementation implements Desk<Payment> {

        private final AtomicInteger runs = new AtomicInteger();

        @Override
        public String take(Payment payment) {
            return "taken " + next();
        }

        @Override
        public int next() {
            return runs.incrementAndGet();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Idempotent
    @interface PaymentOperation {

        @AliasFor(annotation = Idempotent.class, attribute = "key")
        String value();
    }

    static class Meta {

        private final AtomicInteger runs = new AtomicInteger();

        @PaymentOperation("#id")
        public String pay(String id) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    @Idempotent(key = "#key")
    static class OnClass {

        private final AtomicInteger runs = new AtomicInteger();

        public String first(String key) {
            return "first " + runs.incrementAndGet();
        }

        public String second(String key) {
            return "second " + runs.incrementAndGet();
        }

        String inner(String other) {
            return "inner " + runs.incrementAndGet();
        }

        @Override
        public String toString() {
            return "me";
        }
    }

    interface Client {

        @Idempotent(key = "#key")
        String send(String key);
    }

    static class Visible {

        private final AtomicInteger runs = new AtomicInteger();

        @Idempotent(key = "#key")
        String packagePrivate(String key) {
            return String.valueOf(runs.incrementAndGet());
        }

        @Idempotent(key = "#key")
        protected String guarded(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class SelfCalling {

        final AtomicInteger runs = new AtomicInteger();

        public void outer(String key) {
            inner(key);
        }

        public Runnable inLambda(String key) {
            return () -> inner(key);
        }

        @Idempotent(key = "#key")
        public String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class SelfInjected {

        final AtomicInteger runs = new AtomicInteger();

        @org.springframework.beans.factory.annotation.Autowired
        @Nullable
        ObjectProvider<SelfInjected> self;

        public void outer(String key) {
            self.getObject().inner(key);
        }

        @Idempotent(key = "#key")
        public String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class WithTemplate {

        private static final IdempotentOperation<String> INNER =
                IdempotentOperation.named("inner", String.class).build();

        final AtomicInteger runs = new AtomicInteger();
        private final IdempotencyTemplate template;

        WithTemplate(IdempotencyTemplate template) {
            this.template = template;
        }

        public void outer(String key) {
            template.execute(INNER, key, () -> inner(key));
        }

        private String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class Slow {

        final AtomicInteger runs = new AtomicInteger();
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);

        @Idempotent(key = "#key")
        public String work(String key) {
            entered.countDown();
            MethodDoorTests.await(leave);
            return String.valueOf(runs.incrementAndGet());
        }
    }

    /** What is refused at start. */
    static final class Bad {

        static class Publisher {
            @Idempotent(key = "#key")
            public java.util.concurrent.Flow.@Nullable Publisher<String> make(String key) {
                return null;
            }
        }

        static class PlainFuture {
            @Idempotent(key = "#key")
            public java.util.concurrent.@Nullable Future<String> make(String key) {
                return null;
            }
        }

        static class RawStage {
            @SuppressWarnings("rawtypes")
            @Idempotent(key = "#key")
            public @Nullable CompletionStage make(String key) {
                return null;
            }
        }

        static class StageOfObject {
            @Idempotent(key = "#key")
            public @Nullable CompletionStage<Object> make(String key) {
                return null;
            }
        }

        static class AnyObject {
            @Idempotent(key = "#key")
            public Object make(String key) {
                return key;
            }
        }

        static class Wildcard {
            @Idempotent(key = "#key")
            public List<?> make(String key) {
                return new ArrayList<>();
            }
        }

        static class AStream {
            @Idempotent(key = "#key")
            public java.util.stream.@Nullable Stream<String> make(String key) {
                return null;
            }
        }

        static class Suspending {
            @Idempotent(key = "#key")
            public @Nullable Object make(String key, kotlin.coroutines.Continuation<String> continuation) {
                return null;
            }
        }

        static class Abstract {
            @Idempotent(key = "#key")
            public @Nullable Number make(String key) {
                return null;
            }
        }

        static class Final {
            @Idempotent(key = "#key")
            public final String make(String key) {
                return key;
            }
        }

        static class Private {
            @Idempotent(key = "#key")
            private String make(String key) {
                return key;
            }
        }

        static class Static {
            @Idempotent(key = "#key")
            public static String make(String key) {
                return key;
            }
        }

        static class UnknownParameter {
            @Idempotent(key = "#kye")
            public String make(String key) {
                return key;
            }
        }

        static class NoExpression {
            @Idempotent(key = "#key.")
            public String make(String key) {
                return key;
            }
        }

        static class UnknownFingerprint {
            @Idempotent(key = "#key", fingerprint = "#amount")
            public String make(String key) {
                return key;
            }
        }

        private Bad() {}
    }
}
