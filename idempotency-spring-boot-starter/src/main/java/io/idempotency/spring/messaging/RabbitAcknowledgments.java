package io.idempotency.spring.messaging;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.MessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;

/** Knows who acknowledges: a second acknowledgment of the same message closes the channel. */
final class RabbitAcknowledgments {

    private final Supplier<Stream<RabbitListenerEndpointRegistry>> registries;

    RabbitAcknowledgments(Supplier<Stream<RabbitListenerEndpointRegistry>> registries) {
        this.registries = registries;
    }

    /**
     * Whether nobody acknowledges if the method does not.
     *
     * @param queue null if the call does not show it
     */
    boolean areUpTo(Method method, RabbitListener annotation, @Nullable String queue) {
        // Of a value that comes later, the container acknowledges when it has come.
        if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
            return false;
        }
        List<AcknowledgeMode> modes = registries
                .get()
                .flatMap(registry -> containersOf(registry, annotation, queue))
                .map(AbstractMessageListenerContainer::getAcknowledgeMode)
                .toList();
        return modes.isEmpty()
                ? annotation.ackMode().equalsIgnoreCase(AcknowledgeMode.MANUAL.name())
                : modes.contains(AcknowledgeMode.MANUAL);
    }

    private static Stream<AbstractMessageListenerContainer> containersOf(
            RabbitListenerEndpointRegistry registry, RabbitListener annotation, @Nullable String queue) {
        MessageListenerContainer named =
                annotation.id().isEmpty() ? null : registry.getListenerContainer(annotation.id());
        Stream<MessageListenerContainer> candidates =
                named == null ? registry.getListenerContainers().stream() : Stream.of(named);
        List<String> queues = queue == null ? List.of(annotation.queues()) : List.of(queue);
        return candidates
                .filter(AbstractMessageListenerContainer.class::isInstance)
                .map(AbstractMessageListenerContainer.class::cast)
                .filter(container -> named != null
                        || Arrays.stream(container.getQueueNames()).anyMatch(queues::contains));
    }
}
