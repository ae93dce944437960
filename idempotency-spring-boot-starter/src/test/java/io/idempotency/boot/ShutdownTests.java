package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Execution;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;

@ExtendWith(OutputCaptureExtension.class)
class ShutdownTests {

    private static final IdempotentOperation<String> SLOW = IdempotentOperation.named("slow", String.class)
            .guarantee(Guarantee.AT_LEAST_ONCE)
            .lease(Duration.ofMillis(150))
            .build();

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch finish = new CountDownLatch(1);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyPurgeAutoConfiguration.class))
            .withBean(IdempotencyStore.class, this::recordingStore);

    @Test
    void renewalAndCompletionOutliveTheGracefulShutdownOfTheWebServer() {
        runner.withBean("webServer", SmartLifecycle.class, () -> new GracefulServer(this::letTheCallFinish))
                .run(context -> {
                    CompletableFuture<Execution<String>> call = slowCall(context);

                    context.getSourceApplicationContext().close();

                    assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(new Execution<>("done", false));
                    assertThat(events).containsSubsequence("server stopping", "renew", "complete", "server stopped");
                });
    }

    // The server waits until the lease has been renewed while it was stopping.
    private void letTheCallFinish() {
        events.add("server stopping");
        int seen = events.size();
        await().until(() -> events.subList(seen, events.size()).contains("renew"));
        finish.countDown();
        await().until(() -> events.contains("complete"));
        events.add("server stopped");
    }

    @Test
    void whatStillRunsAtTheEndIsToldByOperation(CapturedOutput output) {
        runner.run(context -> {
            CompletableFuture<Execution<String>> call = slowCall(context);

            context.getSourceApplicationContext().close();

            assertThat(output).contains("Stopping while 1 call(s) of operation slow still run");
            finish.countDown();
            assertThat(call.get(10, TimeUnit.SECONDS).value()).isEqualTo("done");
        });
    }

    @Test
    void noThreadOfTheEngineIsLeftBehind() {
        for (int i = 0; i < 50; i++) {
            runner.run(context -> context.getBean(IdempotencyEngine.class));
        }
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("idempotency-")));
    }

    private CompletableFuture<Execution<String>> slowCall(AssertableApplicationContext context)
            throws InterruptedException {
        IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
        CompletableFuture<Execution<String>> call =
                CompletableFuture.supplyAsync(() -> template.execute(SLOW, "k", () -> {
                    running.countDown();
                    awaitFinish();
                    return "done";
                }));
        assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
        return call;
    }

    private void awaitFinish() {
        try {
            assertThat(finish.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private IdempotencyStore recordingStore() {
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();
        return (IdempotencyStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {IdempotencyStore.class}, (proxy, method, arguments) -> {
                    events.add(method.getName());
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
