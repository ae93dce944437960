package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.web.client.RestTemplate;

class IdempotencyClientInterceptorTests extends ClientContract<IdempotencyClientInterceptor.Builder> {

    @Override
    IdempotencyClientInterceptor.Builder builder() {
        return IdempotencyClientInterceptor.builder().pauses(watch);
    }

    @Override
    IdempotencyClientInterceptor.Builder withKeysForPut(IdempotencyClientInterceptor.Builder interceptor) {
        return interceptor.methods(HttpMethod.PUT);
    }

    @Override
    Client client(IdempotencyClientInterceptor.Builder interceptor) {
        return new OverRestClient(
                uri,
                RestClient.builder().requestInterceptor(interceptor.build()).build());
    }

    @Override
    Class<ResourceAccessException> failure() {
        return ResourceAccessException.class;
    }

    private record OverRestClient(URI uri, RestClient client) implements Client {

        @Override
        public Received post() {
            return receive(client.post().uri(uri).body("pay"));
        }

        @Override
        public Received put(String header, String value) {
            return receive(client.put().uri(uri).header(header, value));
        }

        @Override
        public Received get() {
            return receive(client.get().uri(uri));
        }

        private static Received receive(RestClient.RequestHeadersSpec<?> request) {
            try {
                ResponseEntity<Void> answer = request.retrieve().toBodilessEntity();
                return new Received(
                        answer.getStatusCode().value(), IdempotencyClientInterceptor.isReplayed(answer.getHeaders()));
            } catch (RestClientResponseException refusal) {
                return new Received(refusal.getStatusCode().value(), false);
            }
        }
    }

    @Test
    void aCallOfARestTemplateHasOneKey() {
        script(new Answer(503), new Answer(200, "Idempotent-Replayed", "true"));
        RestTemplate template = new RestTemplate();
        template.getInterceptors().add(builder().build());

        assertThat(IdempotencyClientInterceptor.isReplayed(
                        template.postForEntity(uri, "pay", Void.class).getHeaders()))
                .isTrue();
        assertThat(keys).hasSize(2).doesNotContainNull();
        assertThat(keys.stream().distinct()).hasSize(1);
    }
}
