package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.MessageBuilder;

/** What holds for listeners of no broker, and of every one. */
class MessageListenerTests extends MessageTests {

    @Test
    void takeTheHeadersOfSpringsMessages() {
        with(OrderFunction.class, function -> {
            Message<String> message = MessageBuilder.withPayload("a")
                    .setHeader("Idempotency-Key", "k")
                    .build();
            assertThat(function.apply(message)).isEqualTo("handled 1");
            assertThat(function.apply(message)).isEqualTo("handled 1");
            assertThat(function.apply(
                            MessageBuilder.createMessage("a", new MessageHeaders(Map.of("Idempotency-Key", "j")))))
                    .isEqualTo("handled 2");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {Batch.class, ListOfPayloads.class})
    void batchesAreRefusedAtStart(Class<?> listener) {
        runner.withBean(listener)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(listener.getName() + ".on is not supported, because the listener takes a batch"));
    }

    @Test
    void aListenerThatCannotSeeAKeyIsRefusedAtStart() {
        runner.withBean(PayloadOnly.class)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(PayloadOnly.class.getName()
                                + ".on is not supported, because the listener names no key"));
    }

    static class OrderFunction implements Function<Message<String>, String> {

        private final AtomicInteger runs = new AtomicInteger();

        @Override
        @Idempotent
        public String apply(Message<String> message) {
            return "handled " + runs.incrementAndGet();
        }
    }

    static class Batch {

        @KafkaListener(topics = "orders", batch = "true")
        @Idempotent(key = "#records")
        public void on(ConsumerRecords<String, String> records) {}
    }

    static class ListOfPayloads {

        @RabbitListener(queues = "orders")
        @Idempotent(key = "#payloads")
        public void on(List<String> payloads) {}
    }

    static class PayloadOnly {

        @KafkaListener(topics = "orders")
        @Idempotent
        public void on(String payload) {}
    }
}
