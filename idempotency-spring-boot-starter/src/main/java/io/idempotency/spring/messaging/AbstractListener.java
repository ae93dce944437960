package io.idempotency.spring.messaging;

import io.idempotency.IdempotencyException;
import io.idempotency.spring.aop.Listener;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is the same for listeners of every broker: headers, payload and batches as Spring's messaging passes them. */
abstract class AbstractListener implements Listener {

    final ListenerParameters parameters;
    final String keyHeader;

    AbstractListener(Method method, String keyHeader) {
        this.parameters = new ListenerParameters(method);
        this.keyHeader = keyHeader;
    }

    @Override
    public @Nullable String objection() {
        return parameters.takeBatches()
                ? "takes a batch, of which some messages may be done and others not; call IdempotencyTemplate for each of them"
                : null;
    }

    @Override
    public boolean seesMessages() {
        return parameters.showHeaders(keyHeader);
    }

    @Override
    public Delivery deliver(@Nullable Object[] arguments) {
        return new SpringDelivery(arguments);
    }

    /** Named after the length, so that no two scopes look the same. */
    static String scope(String broker, String name) {
        return broker + ":" + name.length() + ":" + name;
    }

    /** The argument of this type; null if the method has none. */
    static <T> @Nullable T argument(@Nullable Object[] arguments, Class<T> type) {
        for (Object argument : arguments) {
            if (type.isInstance(argument)) {
                return type.cast(argument);
            }
        }
        return null;
    }

    /** Scope of a message that shows nothing else. */
    abstract String scopeOf(@Nullable Object[] arguments);

    /** One call, as Spring's messaging has made it. */
    class SpringDelivery implements Delivery {

        private final @Nullable Object[] arguments;

        SpringDelivery(@Nullable Object[] arguments) {
            this.arguments = arguments;
        }

        @Nullable
        Object header(String name) {
            return parameters.header(arguments, name);
        }

        @Override
        public @Nullable String key() {
            String key = MessageKeys.of(keyHeader, this::header);
            return key == null ? MessageKeys.text(messageId()) : key;
        }

        /** What its sender or the broker has called it; null where that is not an identity. */
        @Nullable
        Object messageId() {
            return null;
        }

        @Override
        public String scope() {
            return scopeOf(arguments);
        }

        @Override
        public @Nullable Object[] arguments() {
            return arguments;
        }

        @Override
        public List<@Nullable Object> payload() {
            return parameters.payloads(arguments);
        }

        @Override
        public void settled(boolean replayed) {}

        @Override
        public RuntimeException refused(IdempotencyException refusal) {
            return refusal;
        }
    }
}
