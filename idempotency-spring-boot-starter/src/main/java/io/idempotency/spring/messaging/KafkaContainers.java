package io.idempotency.spring.messaging;

import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;

/**
 * Gives every listener container a {@link PatientErrorHandler} around its own handler, right before the containers start.
 * Containers in transactions of Kafka have no such handler; theirs is an after-rollback processor of the application. What cannot become
 * better by trying again does not pass through retry topics.
 *
 * @since 0.1.0
 */
public final class KafkaContainers implements SmartLifecycle {

    private final Supplier<Stream<KafkaListenerEndpointRegistry>> registries;
    private final Supplier<Stream<DestinationTopicResolver>> retryTopics;
    private volatile boolean running;

    public KafkaContainers(
            Supplier<Stream<KafkaListenerEndpointRegistry>> registries,
            Supplier<Stream<DestinationTopicResolver>> retryTopics) {
        this.registries = registries;
        this.retryTopics = retryTopics;
    }

    @Override
    public void start() {
        retryTopics.get().forEach(NotRetryable::in);
        registries
                .get()
                .flatMap(registry -> registry.getListenerContainers().stream())
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .forEach(container -> makePatient((AbstractMessageListenerContainer<?, ?>) container));
        running = true;
    }

    private static void makePatient(AbstractMessageListenerContainer<?, ?> container) {
        CommonErrorHandler handler = container.getCommonErrorHandler();
        if (handler instanceof PatientErrorHandler) {
            return;
        }
        if (handler != null) {
            container.setCommonErrorHandler(new PatientErrorHandler(handler));
        } else if (!isTransactional(container)) {
            container.setCommonErrorHandler(new PatientErrorHandler(new DefaultErrorHandler()));
        }
    }

    // The property has another name and type in each generation of Spring Kafka.
    private static boolean isTransactional(AbstractMessageListenerContainer<?, ?> container) {
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(container.getContainerProperties());
        return Stream.of("kafkaAwareTransactionManager", "transactionManager")
                .anyMatch(name -> properties.isReadableProperty(name) && properties.getPropertyValue(name) != null);
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return AbstractMessageListenerContainer.DEFAULT_PHASE - 1;
    }
}
