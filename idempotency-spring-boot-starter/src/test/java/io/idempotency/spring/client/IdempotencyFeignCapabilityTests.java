package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import feign.Feign;
import feign.HeaderMap;
import feign.Request.HttpMethod;
import feign.RequestLine;
import feign.Response;
import feign.RetryableException;
import feign.Retryer;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IdempotencyFeignCapabilityTests extends ClientContract<IdempotencyFeignCapability.Builder> {

    interface Payments {

        @RequestLine("POST /payments")
        Response pay(String payment);

        @RequestLine("POST /payments")
        void payOrFail(String payment);

        @RequestLine("PUT /payments")
        Response put(@HeaderMap Map<String, Object> headers);

        @RequestLine("GET /payments")
        Response read();
    }

    @Override
    IdempotencyFeignCapability.Builder builder() {
        return IdempotencyFeignCapability.builder().pauses(watch);
    }

    @Override
    IdempotencyFeignCapability.Builder withKeysForPut(IdempotencyFeignCapability.Builder capability) {
        return capability.methods(HttpMethod.PUT);
    }

    @Override
    Client client(IdempotencyFeignCapability.Builder capability) {
        return new OverFeign(Feign.builder()
                .retryer(Retryer.NEVER_RETRY)
                .addCapability(capability.build())
                .target(Payments.class, uri.resolve("/").toString()));
    }

    @Override
    Class<RetryableException> failure() {
        return RetryableException.class;
    }

    private record OverFeign(Payments client) implements Client {

        @Override
        public Received post() {
            return received(client.pay("pay"));
        }

        @Override
        public Received put(String header, String value) {
            return received(client.put(Map.of(header, value)));
        }

        @Override
        public Received get() {
            return received(client.read());
        }

        private static Received received(Response answer) {
            return new Received(answer.status(), IdempotencyFeignCapability.isReplayed(answer));
        }
    }

    @Test
    void theRetriesOfFeignAreTheSameCall() {
        script(new Answer(500), new Answer(502), new Answer(201));
        Payments client = Feign.builder()
                .retryer(new Retryer.Default(1, 1, 5))
                .errorDecoder((method, answer) -> new RetryableException(
                        answer.status(), "again", answer.request().httpMethod(), (Long) null, answer.request()))
                .addCapability(builder().build())
                .target(Payments.class, uri.resolve("/").toString());

        client.payOrFail("pay");
        client.payOrFail("pay");

        assertThat(keys).hasSize(4);
        assertThat(keys.subList(0, 3).stream().distinct()).hasSize(1);
        assertThat(keys.get(3)).isNotEqualTo(keys.get(0));
    }
}
