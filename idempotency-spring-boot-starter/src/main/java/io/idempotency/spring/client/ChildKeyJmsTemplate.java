package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Topic;
import org.jspecify.annotations.Nullable;
import org.springframework.jms.core.JmsTemplate;

/**
 * Gives messages that an idempotent action sends a key that is the same on every attempt, so that their consumers recognise what a
 * later attempt sends again. A message that has a key keeps it; outside of an action no key is added.
 *
 * <p>The key contains the destination and the how-manieth message for it this attempt sends: every attempt must send to a destination
 * in the same order, by one thread.
 *
 * @since 0.1.0
 */
public class ChildKeyJmsTemplate extends JmsTemplate {

    private static final String DEFAULT_PROPERTY = "Idempotency_Key";

    private final String property;
    private volatile @Nullable RequestId requestId;

    /** Sends the key as {@code Idempotency_Key}. */
    public ChildKeyJmsTemplate(ConnectionFactory connectionFactory) {
        this(connectionFactory, DEFAULT_PROPERTY);
    }

    /** @param property names of JMS have no hyphen */
    public ChildKeyJmsTemplate(ConnectionFactory connectionFactory, String property) {
        super(connectionFactory);
        this.property = checked(property);
    }

    private static String checked(String property) {
        boolean named = !property.isEmpty()
                && Character.isJavaIdentifierStart(property.charAt(0))
                && property.chars().allMatch(Character::isJavaIdentifierPart);
        if (!named) {
            throw new IllegalArgumentException("The name of a JMS property must be an identifier of Java: '" + property
                    + "' is none. Put underscores in the place of hyphens");
        }
        return property;
    }

    /**
     * Also sends the id of the request that is being served, as the logging context has it: with every message that has none, inside of
     * an action or not.
     *
     * @param property names of JMS have no hyphen
     */
    public void setRequestId(String mdcKey, String property) {
        this.requestId = new RequestId(mdcKey, checked(property));
    }

    // Every way to send ends here.
    @Override
    protected void doSend(MessageProducer producer, Message message) throws JMSException {
        IdempotencyContext context = IdempotencyContext.current().orElse(null);
        if (context != null && message.getStringProperty(property) == null) {
            message.setStringProperty(property, ChildKeys.next(context, "jms " + nameOf(producer.getDestination())));
        }
        addRequestId(message);
        super.doSend(producer, message);
    }

    private void addRequestId(Message message) throws JMSException {
        RequestId wanted = requestId;
        String id = wanted == null ? null : wanted.current();
        if (wanted == null || id == null || message.propertyExists(wanted.header())) {
            return;
        }
        try {
            message.setStringProperty(wanted.header(), id);
        } catch (MessageNotWriteableException e) {
            // It has been received and is sent on as it came, which must not fail for the sake of the logs.
        }
    }

    private static String nameOf(@Nullable Destination destination) throws JMSException {
        if (destination instanceof Queue queue) {
            return "queue " + queue.getQueueName();
        }
        return destination instanceof Topic topic ? "topic " + topic.getTopicName() : "";
    }
}
