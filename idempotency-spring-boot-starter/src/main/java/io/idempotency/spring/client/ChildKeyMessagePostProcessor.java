package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Correlation;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessagePostProcessor;

/**
 * Gives messages that an idempotent action sends a key that is the same on every attempt, so that their consumers recognise what a
 * later attempt sends again. For {@code RabbitTemplate.addBeforePublishPostProcessors}. A message that has a key header keeps it;
 * outside of an action nothing is added.
 *
 * <p>The key contains exchange, routing key and the how-manieth message for them this attempt sends: every attempt must send them in
 * the same order, by one thread.
 *
 * @since 0.1.0
 */
public final class ChildKeyMessagePostProcessor implements MessagePostProcessor {

    private final String header;

    /** Sends the key as {@code Idempotency-Key}. */
    public ChildKeyMessagePostProcessor() {
        this("Idempotency-Key");
    }

    public ChildKeyMessagePostProcessor(String header) {
        this.header = header;
    }

    @Override
    public Message postProcessMessage(Message message) {
        return withKey(message, "");
    }

    @Override
    public Message postProcessMessage(
            Message message, @Nullable Correlation correlation, String exchange, String routingKey) {
        return withKey(message, exchange.length() + ":" + exchange + routingKey);
    }

    private Message withKey(Message message, String destination) {
        if (message.getMessageProperties().getHeader(header) == null) {
            IdempotencyContext.current()
                    .map(context -> ChildKeys.next(context, "amqp " + destination))
                    .ifPresent(key -> message.getMessageProperties().setHeader(header, key));
        }
        return message;
    }
}
