package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.util.AopTestUtils;

/** Listeners as their containers call them: an exception means that the message comes again, a return that it is done. */
abstract class MessageTests {

    final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJacksonAutoConfiguration.class,
                    IdempotencyMessagingAutoConfiguration.class))
            .withPropertyValues("idempotency.store=in-memory");

    final <T> void with(Class<T> type, Consumer<T> test, String... properties) {
        runner.withBean(type).withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(type));
        });
    }

    static <T> T real(T proxy) {
        return AopTestUtils.getTargetObject(proxy);
    }

    static <T> T scripted(Class<T> type, BiFunction<String, Object[], @Nullable Object> script) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, called, arguments) -> script.apply(called.getName(), arguments)));
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
