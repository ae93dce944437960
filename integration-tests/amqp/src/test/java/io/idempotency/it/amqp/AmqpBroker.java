package io.idempotency.it.amqp;

import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The broker of the tests: a RabbitMQ that has been named, or else one in this process. */
final class AmqpBroker {

    private static final @Nullable String NAMED = System.getenv("IDEMPOTENCY_TEST_AMQP_URL");

    private AmqpBroker() {}

    /** The properties that lead an application there. */
    static void connect(BiConsumer<String, Supplier<Object>> properties) {
        if (NAMED != null) {
            properties.accept("spring.rabbitmq.addresses", () -> NAMED);
        } else {
            properties.accept("spring.rabbitmq.host", () -> "127.0.0.1");
            properties.accept("spring.rabbitmq.port", QpidBroker::port);
            properties.accept("spring.rabbitmq.virtual-host", () -> "default");
        }
    }

    /** The arguments of a queue from which what is rejected goes to the other one at once. */
    static Map<String, Object> rejectingTo(String deadLetters) {
        return NAMED != null
                ? Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", deadLetters)
                : Map.of("x-qpid-dlq-enabled", true, "x-qpid-maximum-delivery-count", 1);
    }

    /**
     * Whether it is a RabbitMQ that has been named. That one keeps its queues when the tests are over, and does not count messages that
     * are delivered and not acknowledged.
     */
    static boolean isNamed() {
        return NAMED != null;
    }
}
