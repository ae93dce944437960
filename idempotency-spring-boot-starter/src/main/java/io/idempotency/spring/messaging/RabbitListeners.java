package io.idempotency.spring.messaging;

import com.rabbitmq.client.Channel;
import io.idempotency.IdempotencyException;
import io.idempotency.spring.aop.Listener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.annotation.RabbitHandler;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Methods that are called with messages of RabbitMQ. A message is worked on once per queue. While its first delivery still runs it
 * goes back to the queue; what cannot become better by trying again is rejected, so that the queue's dead-letter exchange gets it.
 * A duplicate that a method with a {@link Channel} would have to acknowledge itself is acknowledged by the library.
 *
 * @since 0.1.0
 */
public final class RabbitListeners implements Listener.Kind {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final String keyHeader;
    private final RabbitAcknowledgments acknowledgments;

    /**
     * @param keyHeader name of the header that carries the key
     * @param registries know the containers, once they have been started
     */
    public RabbitListeners(String keyHeader, Supplier<Stream<RabbitListenerEndpointRegistry>> registries) {
        this.keyHeader = keyHeader;
        this.acknowledgments = new RabbitAcknowledgments(registries);
    }

    @Override
    public @Nullable Listener of(Method method, Class<?> targetClass) {
        RabbitListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, RabbitListener.class);
        if (annotation == null && AnnotatedElementUtils.hasAnnotation(method, RabbitHandler.class)) {
            annotation = AnnotatedElementUtils.findMergedAnnotation(targetClass, RabbitListener.class);
        }
        return annotation == null ? null : new RabbitMethod(method, annotation, keyHeader, acknowledgments);
    }

    private static final class RabbitMethod extends AbstractListener {

        private final RabbitListener annotation;
        private final Method method;
        private final RabbitAcknowledgments acknowledgments;
        private final boolean message;
        private final int channel;

        private RabbitMethod(
                Method method, RabbitListener annotation, String keyHeader, RabbitAcknowledgments acknowledgments) {
            super(method, keyHeader);
            this.method = method;
            this.annotation = annotation;
            this.acknowledgments = acknowledgments;
            this.message = parameters.indexOf(Message.class) >= 0;
            this.channel = parameters.indexOf(Channel.class);
        }

        @Override
        public boolean seesMessages() {
            return message || super.seesMessages();
        }

        @Override
        String scopeOf(@Nullable Object[] arguments) {
            String queue = queueOf(arguments);
            return scope("amqp", queue == null ? declaredQueues() : queue);
        }

        private @Nullable String queueOf(@Nullable Object[] arguments) {
            Message raw = argument(arguments, Message.class);
            if (raw != null) {
                return raw.getMessageProperties().getConsumerQueue();
            }
            Object queue = parameters.header(arguments, AmqpHeaders.CONSUMER_QUEUE);
            return queue == null ? null : queue.toString();
        }

        private String declaredQueues() {
            List<String> names = new ArrayList<>(Arrays.asList(annotation.queues()));
            Arrays.stream(annotation.queuesToDeclare()).forEach(queue -> names.add(queue.name() + queue.value()));
            Arrays.stream(annotation.bindings())
                    .forEach(binding ->
                            names.add(binding.value().name() + binding.value().value()));
            return names.isEmpty() ? annotation.id() : String.join(",", names);
        }

        @Override
        public Delivery deliver(@Nullable Object[] arguments) {
            return new RabbitDelivery(arguments);
        }

        private final class RabbitDelivery extends SpringDelivery {

            private final @Nullable Message raw;

            private RabbitDelivery(@Nullable Object[] arguments) {
                super(arguments);
                this.raw = argument(arguments, Message.class);
            }

            @Override
            @Nullable
            Object header(String name) {
                Object found = raw == null ? null : raw.getMessageProperties().getHeader(name);
                return found == null ? super.header(name) : found;
            }

            @Override
            @Nullable
            Object messageId() {
                return raw == null
                        ? header(AmqpHeaders.MESSAGE_ID)
                        : raw.getMessageProperties().getMessageId();
            }

            @Override
            public List<@Nullable Object> payload() {
                List<@Nullable Object> payload = new ArrayList<>(super.payload());
                if (raw != null) {
                    payload.add(raw.getBody());
                }
                return payload;
            }

            @Override
            public void settled(boolean replayed) {
                if (replayed) {
                    answerInstead((open, tag) -> open.basicAck(tag, false));
                }
            }

            // A container that leaves acknowledgments to the method does not give the message back either.
            private ImmediateRequeueAmqpException backToTheQueue(IdempotencyException refusal) {
                answerInstead((open, tag) -> open.basicNack(tag, false, true));
                return new ImmediateRequeueAmqpException(refusal.getMessage(), refusal);
            }

            private void answerInstead(Answer answer) {
                Object tag = raw == null
                        ? header(AmqpHeaders.DELIVERY_TAG)
                        : Long.valueOf(raw.getMessageProperties().getDeliveryTag());
                if (channel >= 0
                        && tag instanceof Long number
                        && arguments()[channel] instanceof Channel open
                        && acknowledgments.areUpTo(method, annotation, queueOf(arguments()))) {
                    try {
                        answer.send(open, number);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
            }

            @Override
            public RuntimeException refused(IdempotencyException refusal) {
                return Pause.ifTimeHeals(refusal, LONGEST_PAUSE)
                        ? backToTheQueue(refusal)
                        : new AmqpRejectAndDontRequeueException(refusal.getMessage(), true, refusal);
            }
        }

        private interface Answer {
            void send(Channel open, long tag) throws IOException;
        }
    }
}
