package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What is found out about annotated methods when the application starts. */
@ExtendWith(OutputCaptureExtension.class)
class MethodStartTests extends MethodTests {

    @ParameterizedTest
    @ValueSource(
            classes = {
                Bad.RawStage.class,
                Bad.StageOfObject.class,
                Bad.AnyObject.class,
                Bad.Wildcard.class,
                Bad.AStream.class,
                Bad.Abstract.class
            })
    void failsOnWhatCannotBeKept(Class<?> bean) {
        runner.withBean(bean)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .startsWith(
                                "@Idempotent on " + bean.getName() + ".make is not supported, because the method "));
    }

    // Case 74: even where only the fact would be kept, because nobody sees the end of the work.
    @ParameterizedTest
    @ValueSource(
            classes = {
                Bad.AMono.class,
                Bad.AFlux.class,
                Bad.SubclassOfMono.class,
                Bad.Publisher.class,
                Bad.PlainFuture.class
            })
    void failsOnPromisesWhoseEndNobodySees(Class<?> bean) {
        runner.withBean(bean)
                .withPropertyValues("idempotency.store-result=false")
                .run(context -> {
                    FailureAnalysis analysis = StartupFailures.analysisOf(context);
                    assertThat(analysis.getDescription())
                            .startsWith("@Idempotent on " + bean.getName()
                                    + ".make is not supported, because the method returns ")
                            .endsWith(", which is no value but a promise of one.");
                    assertThat(analysis.getAction()).contains("CompletionStage", "Mono.toFuture()");
                });
    }

    // Case 74: recognised by its last parameter, without Kotlin on the class path.
    @Test
    void failsOnSuspendingFunctions() {
        runner.withBean(Bad.Suspending.class)
                .withPropertyValues("idempotency.store-result=false")
                .run(context -> {
                    FailureAnalysis analysis = StartupFailures.analysisOf(context);
                    assertThat(analysis.getDescription())
                            .isEqualTo("@Idempotent on " + Bad.Suspending.class.getName()
                                    + ".make is not supported, because the method is a suspending function of Kotlin,"
                                    + " whose end the library cannot see.");
                    assertThat(analysis.getAction()).contains("a function that does not suspend");
                });
    }

    @ParameterizedTest
    @ValueSource(classes = {Bad.Final.class, Bad.Private.class, Bad.Static.class})
    void failsOnWhatCannotBeIntercepted(Class<?> bean) {
        runner.withBean(bean)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
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
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
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
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
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

    abstract static class MonoProcessor extends Mono<String> {}

    /** What is refused at start. */
    static final class Bad {

        static class Publisher {
            @Idempotent(key = "#key")
            public java.util.concurrent.Flow.@Nullable Publisher<String> make(String key) {
                return null;
            }
        }

        static class AMono {
            @Idempotent(key = "#key")
            public Mono<String> make(String key) {
                return Mono.just(key);
            }
        }

        static class AFlux {
            @Idempotent(key = "#key")
            public Flux<String> make(String key) {
                return Flux.just(key);
            }
        }

        static class SubclassOfMono {
            @Idempotent(key = "#key")
            public @Nullable MonoProcessor make(String key) {
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
