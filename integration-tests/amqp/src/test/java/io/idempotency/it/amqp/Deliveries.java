package io.idempotency.it.amqp;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessagePostProcessor;
import org.springframework.stereotype.Component;

/** What the broker has delivered, by queue, whether the listener was called or not. */
@Component
class Deliveries implements MessagePostProcessor {

    private final Map<String, Integer> byQueue = new ConcurrentHashMap<>();

    @Override
    public Message postProcessMessage(Message message) {
        byQueue.merge(message.getMessageProperties().getConsumerQueue(), 1, Integer::sum);
        return message;
    }

    int of(String queue) {
        return byQueue.getOrDefault(queue, 0);
    }
}
