package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;

/** What goes out has the id of the request that is being served. */
class MessageRequestIdTests {

    private static final String HEADER = "X-Request-Id";

    abstract class OfAnyBroker {

        /** The request id of a message after it has been sent. */
        abstract @Nullable String sent(@Nullable String ownId);

        private @Nullable String sentWith(String id, @Nullable String ownId) {
            try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", id)) {
                return sent(ownId);
            }
        }

        @Test
        void isThatOfTheLoggingContext() {
            assertThat(sentWith("r-1", null)).isEqualTo("r-1");
            assertThat(sent(null)).isNull();
        }

        @Test
        void ofTheSendersOwnIsKept() {
            assertThat(sentWith("r-1", "of its own")).isEqualTo("of its own");
            assertThat(sentWith("r-1", "")).isEmpty();
        }

        @Test
        void isNotSentWhereItIsMalformed() {
            assertThat(sentWith("r\n1", null)).isNull();
        }
    }

    @Nested
    class OfARecordOfKafka extends OfAnyBroker {

        private final ChildKeyProducerInterceptor<String, String> interceptor =
                new ChildKeyProducerInterceptor<String, String>().withRequestId("requestId", HEADER);

        @Override
        @Nullable
        String sent(@Nullable String ownId) {
            ProducerRecord<String, String> record = new ProducerRecord<>("orders", "order");
            if (ownId != null) {
                record.headers().add(HEADER, ownId.getBytes(StandardCharsets.US_ASCII));
            }
            Header header = interceptor.onSend(record).headers().lastHeader(HEADER);
            return header == null ? null : new String(header.value(), StandardCharsets.US_ASCII);
        }
    }

    @Nested
    class OfAMessageOfRabbit extends OfAnyBroker {

        private final ChildKeyMessagePostProcessor processor =
                new ChildKeyMessagePostProcessor().withRequestId("requestId", HEADER);

        @Override
        @Nullable
        String sent(@Nullable String ownId) {
            Message message = new Message(new byte[0], new MessageProperties());
            if (ownId != null) {
                message.getMessageProperties().setHeader(HEADER, ownId);
            }
            return processor
                    .postProcessMessage(message, null, "", "orders")
                    .getMessageProperties()
                    .getHeader(HEADER);
        }
    }
}
