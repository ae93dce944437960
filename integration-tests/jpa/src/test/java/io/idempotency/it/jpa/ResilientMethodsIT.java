package io.idempotency.it.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.boot.IdempotencyAutoConfiguration;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Retries of Spring Framework 7 are around the claim: each attempt is a call of its own. */
class ResilientMethodsIT {

    private final IdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();

    private final ApplicationContextRunner node = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, IdempotencyAutoConfiguration.class))
            .withUserConfiguration(Resilience.class)
            .withBean(IdempotencyStore.class, () -> store);

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Resilience {}

    // Case 72.
    @Test
    void anAttemptGetsTheResultThatAnotherNodeHasMeanwhile() {
        node.withBean(Parcels.class, () -> new Parcels("a", 1000))
                .run(a -> node.withBean(Parcels.class, () -> new Parcels("b", 0))
                        .run(b -> {
                            Parcels onA = a.getBean(Parcels.class);
                            CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> onA.send("k"));
                            assertThat(onA.failed().await(30, TimeUnit.SECONDS)).isTrue();

                            assertThat(b.getBean(Parcels.class).send("k")).isEqualTo("sent by b in attempt 1");

                            assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("sent by b in attempt 1");
                        }));
    }

    // Case 72.
    @Test
    void theResultOfTheLastAttemptIsKept() {
        node.withBean(Parcels.class, () -> new Parcels("a", 2)).run(context -> {
            Parcels parcels = context.getBean(Parcels.class);

            assertThat(parcels.send("k")).isEqualTo("sent by a in attempt 3");
            assertThat(parcels.send("k")).isEqualTo("sent by a in attempt 3");
        });
    }

    public static class Parcels {

        private final String node;
        private final int failures;
        private final AtomicInteger attempts = new AtomicInteger();
        private final CountDownLatch failed = new CountDownLatch(1);

        Parcels() {
            this("", 0);
        }

        Parcels(String node, int failures) {
            this.node = node;
            this.failures = failures;
        }

        public CountDownLatch failed() {
            return failed;
        }

        @Idempotent(key = "#key")
        @Retryable(maxRetries = 1000, delay = 20)
        @ConcurrencyLimit(1)
        public String send(String key) {
            int attempt = attempts.incrementAndGet();
            if (attempt <= failures) {
                failed.countDown();
                throw new IllegalStateException("attempt " + attempt);
            }
            return "sent by " + node + " in attempt " + attempt;
        }
    }
}
