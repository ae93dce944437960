package io.idempotency.spring.messaging;

import io.idempotency.spring.aop.Listener;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * Methods that take a {@link Message} of Spring and are no listener of a broker by annotation: functions of Spring Cloud Stream as
 * classes, handlers of Spring Integration. The scope is the group or the queue, where the headers name one.
 *
 * @since 0.1.0
 */
public final class MessageFunctions implements Listener.Kind {

    private final String keyHeader;

    /**
     * @param keyHeader name of the header that carries the key
     */
    public MessageFunctions(String keyHeader) {
        this.keyHeader = keyHeader;
    }

    @Override
    public @Nullable Listener of(Method method, Class<?> targetClass) {
        AbstractListener listener = new FunctionMethod(method, keyHeader);
        return listener.parameters.indexOf(Message.class) >= 0 ? listener : null;
    }

    private static final class FunctionMethod extends AbstractListener {

        private FunctionMethod(Method method, String keyHeader) {
            super(method, keyHeader);
        }

        @Override
        public @Nullable String objection() {
            return null;
        }

        @Override
        String scopeOf(@Nullable Object[] arguments) {
            Object group = parameters.header(arguments, "kafka_groupId");
            Object queue = group == null ? parameters.header(arguments, "amqp_consumerQueue") : group;
            return scope("message", queue == null ? "" : queue.toString());
        }
    }
}
