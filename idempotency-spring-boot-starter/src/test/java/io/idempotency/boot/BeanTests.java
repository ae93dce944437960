package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.util.AopTestUtils;

/** What tests of annotated beans share that need no server. */
abstract class BeanTests {

    final ApplicationContextRunner runner;

    /** @param configurations beside those that every such test needs */
    BeanTests(Class<?>... configurations) {
        runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        IdempotencyAutoConfiguration.class,
                        IdempotencyInMemoryAutoConfiguration.class,
                        IdempotencyJacksonAutoConfiguration.class))
                .withConfiguration(AutoConfigurations.of(configurations))
                .withPropertyValues("idempotency.store=in-memory");
    }

    final <T> void with(Class<T> type, Consumer<T> test, String... properties) {
        runner.withBean(type).withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(type));
        });
    }

    // A class proxy has the fields of its class and none of their values.
    static <T> T real(T proxy) {
        return AopTestUtils.getTargetObject(proxy);
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
