package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Topic;
import org.jspecify.annotations.Nullable;
import org.springframework.jms.core.JmsTemplate;

/**
 * Gives messages that an idempotent action sends a key that is the same on every attempt, so that their consumers recognise what a
 * later attempt sends again. A message that has a key keeps it; outside of an action nothing is added.
 *
 * <p>The key contains the destination and the how-manieth message for it this attempt sends: every attempt must send to a destination
 * in the same order, by one thread.
 *
 * @since 0.1.0
 */
public class ChildKeyJmsTemplate extends JmsTemplate {

    private static final String DEFAULT_PROPERTY = "Idempotency_Key";

    private final String property;

    /** Sends the key as {@code Idempotency_Key}. */
    public ChildKeyJmsTemplate(ConnectionFactory connectionFactory) {
        this(connectionFactory, DEFAULT_PROPERTY);
    }

    /** @param property names of JMS have no hyphen */
    public ChildKeyJmsTemplate(ConnectionFactory connectionFactory, String property) {
        super(connectionFactory);
        this.property = property;
    }

    // Every way to send ends here.
    @Override
    protected void doSend(MessageProducer producer, Message message) throws JMSException {
        IdempotencyContext context = IdempotencyContext.current().orElse(null);
        if (context != null && message.getStringProperty(property) == null) {
            message.setStringProperty(property, ChildKeys.next(context, "jms " + nameOf(producer.getDestination())));
        }
        super.doSend(producer, message);
    }

    private static String nameOf(@Nullable Destination destination) throws JMSException {
        if (destination instanceof Queue queue) {
            return "queue " + queue.getQueueName();
        }
        return destination instanceof Topic topic ? "topic " + topic.getTopicName() : "";
    }
}
