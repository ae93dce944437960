package io.idempotency.spring.messaging;

import io.idempotency.spring.aop.Listener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaUtils;

/**
 * Methods that are called with records of Kafka. A record is worked on once per consumer group. An {@link Acknowledgment} that the
 * method asks for acknowledges after the result has been stored; for a duplicate, the library acknowledges.
 *
 * @since 0.1.0
 */
public final class KafkaListeners implements Listener.Kind {

    private final String keyHeader;

    /**
     * @param keyHeader name of the header that carries the key
     */
    public KafkaListeners(String keyHeader) {
        this.keyHeader = keyHeader;
    }

    @Override
    public @Nullable Listener of(Method method, Class<?> targetClass) {
        KafkaListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, KafkaListener.class);
        if (annotation == null && AnnotatedElementUtils.hasAnnotation(method, KafkaHandler.class)) {
            annotation = AnnotatedElementUtils.findMergedAnnotation(targetClass, KafkaListener.class);
        }
        return annotation == null ? null : new KafkaMethod(method, annotation, keyHeader);
    }

    private static final class KafkaMethod extends AbstractListener {

        private final KafkaListener annotation;
        private final boolean record;
        private final boolean records;
        private final int acknowledgment;

        private KafkaMethod(Method method, KafkaListener annotation, String keyHeader) {
            super(method, keyHeader);
            this.annotation = annotation;
            this.record = parameters.indexOf(ConsumerRecord.class) >= 0;
            this.records = parameters.indexOf(ConsumerRecords.class) >= 0;
            this.acknowledgment = parameters.indexOf(Acknowledgment.class);
        }

        @Override
        public @Nullable String objection() {
            return records || annotation.batch().equals("true")
                    ? "takes a batch, of which some records may be done and others not; call IdempotencyTemplate for each of them"
                    : super.objection();
        }

        @Override
        public boolean seesMessages() {
            return record || super.seesMessages();
        }

        @Override
        String scopeOf(@Nullable Object[] arguments) {
            String group = KafkaUtils.getConsumerGroupId();
            if (group == null) {
                group = annotation.groupId().isEmpty() ? annotation.id() : annotation.groupId();
            }
            return scope("kafka", group);
        }

        @Override
        public Delivery deliver(@Nullable Object[] arguments) {
            return new KafkaDelivery(arguments);
        }

        private final class KafkaDelivery extends SpringDelivery {

            private final @Nullable Object[] passedOn;
            private final AtomicBoolean acknowledged = new AtomicBoolean();
            private final @Nullable Acknowledgment real;
            private final @Nullable ConsumerRecord<?, ?> message;

            private KafkaDelivery(@Nullable Object[] arguments) {
                super(arguments);
                this.passedOn = arguments.clone();
                this.message = argument(arguments, ConsumerRecord.class);
                this.real = acknowledgment < 0 ? null : (Acknowledgment) arguments[acknowledgment];
                if (real != null) {
                    passedOn[acknowledgment] = later(real);
                }
            }

            // Its methods differ between versions of Spring Kafka; only one of them is held back.
            private Acknowledgment later(Acknowledgment acknowledges) {
                return (Acknowledgment) Proxy.newProxyInstance(
                        Acknowledgment.class.getClassLoader(),
                        new Class<?>[] {Acknowledgment.class},
                        (proxy, called, parameters) -> {
                            if (called.getName().equals("acknowledge") && called.getParameterCount() == 0) {
                                acknowledged.set(true);
                                return null;
                            }
                            try {
                                return called.invoke(acknowledges, parameters);
                            } catch (InvocationTargetException e) {
                                throw e.getTargetException();
                            }
                        });
            }

            @Override
            @Nullable
            Object header(String name) {
                if (message != null) {
                    var last = message.headers().lastHeader(name);
                    if (last != null) {
                        return last.value();
                    }
                }
                return super.header(name);
            }

            @Override
            public @Nullable Object[] arguments() {
                return passedOn;
            }

            @Override
            public List<@Nullable Object> payload() {
                List<@Nullable Object> payload = new ArrayList<>(super.payload());
                if (message != null) {
                    payload.add(message.value());
                }
                return payload;
            }

            @Override
            public void settled(boolean replayed) {
                if (real != null && (replayed || acknowledged.get())) {
                    real.acknowledge();
                }
            }
        }
    }
}
