package io.idempotency.spring.messaging;

import io.idempotency.IdempotencyException;
import io.idempotency.spring.aop.Listener;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.TextMessage;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.support.JmsHeaders;

/**
 * Methods that are called with messages of JMS. A message is worked on once per queue or subscription. In a session that is
 * transacted (Spring Boot's default) every refusal goes back to the broker, which delivers again and keeps what was delivered too
 * often in its dead-letter queue.
 *
 * @since 0.1.0
 */
public final class JmsListeners implements Listener.Kind {

    // Brokers count deliveries, and give a message up after some.
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final String keyHeader;

    /**
     * @param keyHeader name of the header that carries the key; names of JMS properties have no hyphen, so that of a property has
     *     underscores in its place
     */
    public JmsListeners(String keyHeader) {
        this.keyHeader = keyHeader;
    }

    @Override
    public @Nullable Listener of(Method method, Class<?> targetClass) {
        JmsListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, JmsListener.class);
        return annotation == null ? null : new JmsMethod(method, annotation, keyHeader);
    }

    private static final class JmsMethod extends AbstractListener {

        private final JmsListener annotation;
        private final boolean message;

        private JmsMethod(Method method, JmsListener annotation, String keyHeader) {
            super(method, keyHeader);
            this.annotation = annotation;
            this.message = parameters.indexOf(Message.class) >= 0;
        }

        @Override
        public boolean seesMessages() {
            return message || super.seesMessages() || parameters.showHeaders(propertyOf(keyHeader));
        }

        // What a property may be named.
        private static String propertyOf(String header) {
            return header.replace('-', '_').replace(':', '_');
        }

        @Override
        String scopeOf(@Nullable Object[] arguments) {
            return scope(
                    "jms",
                    annotation.subscription().isEmpty()
                            ? annotation.destination()
                            : annotation.destination() + "/" + annotation.subscription());
        }

        @Override
        public Delivery deliver(@Nullable Object[] arguments) {
            return new JmsDelivery(arguments);
        }

        private final class JmsDelivery extends SpringDelivery {

            private final @Nullable Message raw;

            private JmsDelivery(@Nullable Object[] arguments) {
                super(arguments);
                this.raw = argument(arguments, Message.class);
            }

            @Override
            @Nullable
            Object header(String name) {
                String property = propertyOf(name);
                try {
                    Object found = raw == null ? null : raw.getObjectProperty(property);
                    if (found != null) {
                        return found;
                    }
                } catch (JMSException e) {
                    throw new IllegalStateException("The headers of the message cannot be read", e);
                }
                Object found = super.header(name);
                return found == null ? super.header(property) : found;
            }

            @Override
            @Nullable
            Object messageId() {
                try {
                    return raw == null ? header(JmsHeaders.MESSAGE_ID) : raw.getJMSMessageID();
                } catch (JMSException e) {
                    throw new IllegalStateException("The id of the message cannot be read", e);
                }
            }

            @Override
            public List<@Nullable Object> payload() {
                List<@Nullable Object> payload = new ArrayList<>(super.payload());
                try {
                    if (raw instanceof TextMessage text) {
                        payload.add(text.getText());
                    }
                } catch (JMSException e) {
                    throw new IllegalStateException("The text of the message cannot be read", e);
                }
                return payload;
            }

            @Override
            public RuntimeException refused(IdempotencyException refusal) {
                Pause.ifTimeHeals(refusal, LONGEST_PAUSE);
                return refusal;
            }
        }
    }
}
