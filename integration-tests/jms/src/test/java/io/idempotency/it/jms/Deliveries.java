package io.idempotency.it.jms;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.jms.support.converter.MessageConverter;
import org.springframework.jms.support.converter.SimpleMessageConverter;
import org.springframework.stereotype.Component;

/** What the broker has delivered, by queue, whether the listener was called or not. */
@Component
class Deliveries implements MessageConverter {

    private final MessageConverter converter = new SimpleMessageConverter();
    private final Map<String, Integer> byQueue = new ConcurrentHashMap<>();

    @Override
    public Object fromMessage(Message message) throws JMSException {
        byQueue.merge(((Queue) message.getJMSDestination()).getQueueName(), 1, Integer::sum);
        return converter.fromMessage(message);
    }

    @Override
    public Message toMessage(Object object, Session session) throws JMSException {
        return converter.toMessage(object, session);
    }

    int of(String queue) {
        return byQueue.getOrDefault(queue, 0);
    }
}
