package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Correlation;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessagePostProcessor;
import org.springframework.amqp.core.MessageProperties;

/**
 * Gives messages that an idempotent action sends a key that is the same on every attempt, so that their consumers recognise what a
 * later attempt sends again. For {@code RabbitTemplate.addBeforePublishPostProcessors}. A message that has a key header keeps it;
 * outside of an action no key is added.
 *
 * <p>The key contains exchange, routing key and the how-manieth message for them this attempt sends: every attempt must send them in
 * the same order, by one thread.
 *
 * @since 0.1.0
 */
public final class ChildKeyMessagePostProcessor implements MessagePostProcessor {

    private final String header;
    private final @Nullable RequestId requestId;

    /** Sends the key as {@code Idempotency-Key}. */
    public ChildKeyMessagePostProcessor() {
        this("Idempotency-Key");
    }

    public ChildKeyMessagePostProcessor(String header) {
        this(header, null);
    }

    private ChildKeyMessagePostProcessor(String header, @Nullable RequestId requestId) {
        this.header = header;
        this.requestId = requestId;
    }

    /**
     * One that also sends the id of the request that is being served, as the logging context has it: with every message that has none,
     * inside of an action or not.
     */
    public ChildKeyMessagePostProcessor withRequestId(String mdcKey, String header) {
        return new ChildKeyMessagePostProcessor(this.header, new RequestId(mdcKey, header));
    }

    @Override
    public Message postProcessMessage(Message message) {
        return identify(message, "");
    }

    @Override
    public Message postProcessMessage(
            Message message, @Nullable Correlation correlation, String exchange, String routingKey) {
        return identify(message, exchange.length() + ":" + exchange + routingKey);
    }

    private Message identify(Message message, String destination) {
        MessageProperties properties = message.getMessageProperties();
        if (properties.getHeader(header) == null) {
            IdempotencyContext.current()
                    .ifPresent(context -> properties.setHeader(header, ChildKeys.next(context, "amqp " + destination)));
        }
        String id = requestId == null ? null : requestId.current();
        if (requestId != null && id != null && properties.getHeader(requestId.header()) == null) {
            properties.setHeader(requestId.header(), id);
        }
        return message;
    }
}
