package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.Guarantee;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Who stops an engine is told which calls still run. */
class StoppedEngineTests {

    private static final Finish DONE = new Finish.Store(StoredResult.notReplayable("none", new byte[0]), false);

    private static final BusinessTransactions.Handle OPEN = as(
            BusinessTransactions.Handle.class,
            (handle, method, arguments) -> method.getReturnType() == boolean.class ? false : null);

    private IdempotencyEngine engine =
            IdempotencyEngine.on(InMemoryIdempotencyStore.onSystemClock()).build();

    private static <T> T as(Class<T> type, InvocationHandler answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers));
    }

    private static Call call(String operation, String key) {
        return new Call(OperationSettings.of(operation, Guarantee.AT_LEAST_ONCE).build(), "", key, Fingerprint.NONE);
    }

    private RunningAttempt begin(String key) {
        return ((Decision.Proceed) engine.begin(call("pay", key))).attempt().orElseThrow();
    }

    private List<String> stop() {
        Logger logger = (Logger) LoggerFactory.getLogger(IdempotencyEngine.class);
        Level level = logger.getLevel();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.setLevel(Level.WARN);
        logger.addAppender(log);
        try {
            engine.close();
        } finally {
            logger.detachAppender(log);
            logger.setLevel(level);
        }
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void namesWhatRunsWithItsNumber() throws Throwable {
        begin("begun");
        begin("begun, too");
        begin("ended").finish(DONE);

        engine.execute(call("ship", "on the stack"), attempt -> {
            assertThat(stop())
                    .hasSize(2)
                    .anySatisfy(line -> assertThat(line).contains("2 call(s) of operation pay "))
                    .anySatisfy(line -> assertThat(line).contains("1 call(s) of operation ship "));
            return DONE;
        });
    }

    @Test
    void namesNothingThatHasEnded() throws Throwable {
        engine.execute(call("pay", "k"), attempt -> DONE);
        engine.execute(call("pay", "k"), attempt -> DONE);
        begin("l").finish(DONE);
        begin("m").fail(new IllegalStateException("no"));

        assertThat(stop()).isEmpty();
    }

    @Test
    void namesWorkThatLearnedItsKeyOnTheWayUntilItHasEnded() throws Throwable {
        engine = IdempotencyEngine.on(as(
                        TransactionalStore.class, (store, method, arguments) -> switch (method.getName()) {
                            case "claimInOpenTransaction" ->
                                new ClaimResult.Claimed(new Lease((ClaimRequest) arguments[0], 1), false);
                            case "completeInTransaction" -> WriteOutcome.APPLIED;
                            default -> method.getName();
                        }))
                .build();
        OperationSettings settings = OperationSettings.of("pay", Guarantee.EXACTLY_ONCE)
                .transactions(as(
                        BusinessTransactions.class, (transactions, method, arguments) -> switch (method.getName()) {
                            case "inNew" -> ((BusinessTransactions.Work<?>) arguments[0]).run(OPEN);
                            default -> false;
                        }))
                .build();

        engine.executeLate(settings, claim -> {
            assertThat(stop()).isEmpty();
            claim.of(new Call(settings, "", "k", Fingerprint.NONE));
            assertThat(stop()).singleElement().asString().contains("1 call(s) of operation pay ");
            return DONE;
        });

        assertThat(stop()).isEmpty();
    }
}
