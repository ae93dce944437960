package io.idempotency.spring.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.UnknownCallerException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

/** A record that its listener does not take is given up by the application's handler, which tries once more, or kept. */
class PatientErrorHandlerTests {

    private static final int MANY = 5;

    private final AtomicBoolean givenUp = new AtomicBoolean();
    private final PatientErrorHandler handler = new PatientErrorHandler(
            new DefaultErrorHandler((record, failure) -> givenUp.set(true), new FixedBackOff(0, 1)));

    static Stream<RuntimeException> hopeless() {
        return Stream.of(
                new KeyReusedException("no"),
                new OutcomeUnknownException("no"),
                new MissingIdempotencyKeyException("no"),
                new InvalidIdempotencyKeyException("no"),
                new UnknownCallerException("no"),
                new DuplicateRejectedException("no", Duration.ofSeconds(1)),
                new ResultUnreadableException("no", null));
    }

    @ParameterizedTest
    @MethodSource("hopeless")
    void whatCannotBecomeBetterIsGivenUpAtOnce(RuntimeException refusal) {
        assertThat(deliveriesUntilGivenUp(refusal)).isEqualTo(1);
    }

    @Test
    void failuresOfTheListenerAreTriedAgain() {
        assertThat(deliveriesUntilGivenUp(new IllegalStateException("broken"))).isEqualTo(2);
    }

    // Case 131.
    @Test
    void whatStillRunsIsNeverGivenUp() {
        assertThat(deliveriesUntilGivenUp(new OperationInProgressException("busy", Duration.ofMillis(1))))
                .isEqualTo(MANY);
        assertThat(givenUp).isFalse();
    }

    @Test
    void whatTheStoreDoesNotAnswerIsNeverGivenUp() {
        assertThat(deliveriesUntilGivenUp(new StoreUnavailableException("away", null)))
                .isEqualTo(MANY);
        assertThat(givenUp).isFalse();
    }

    private int deliveriesUntilGivenUp(RuntimeException refusal) {
        int deliveries = 0;
        while (!givenUp.get() && deliveries < MANY) {
            deliveries++;
            try {
                handler.handleRemaining(
                        new ListenerExecutionFailedException("The listener threw", refusal),
                        List.of(new ConsumerRecord<>("orders", 0, 7, "key", "value")),
                        nothingOf(Consumer.class),
                        nothingOf(MessageListenerContainer.class));
            } catch (RuntimeException again) {
                // Tells the container that the record comes again, by a type of its own in each generation of Spring
                // Kafka.
            }
        }
        return deliveries;
    }

    private static <T> T nothingOf(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, called, arguments) -> called.getReturnType() == boolean.class ? false : null));
    }
}
