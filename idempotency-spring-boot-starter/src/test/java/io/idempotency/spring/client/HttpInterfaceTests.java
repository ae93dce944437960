package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.support.WebClientAdapter;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Interfaces with {@code @HttpExchange} are clients like that on which they stand. */
class HttpInterfaceTests extends ClientTests {

    interface Payments {

        @PostExchange("/payments")
        ResponseEntity<Void> pay(@RequestBody String payment);
    }

    interface LaterPayments extends Payments {

        @PostExchange("/payments")
        Mono<ResponseEntity<Void>> payLater(@RequestBody String payment);
    }

    private HttpExchangeAdapter onRestClient() {
        return RestClientAdapter.create(RestClient.builder()
                .baseUrl(uri.resolve("/").toString())
                .requestInterceptor(IdempotencyClientInterceptor.builder()
                        .pauses(watch)
                        .childKeys()
                        .build())
                .build());
    }

    private HttpExchangeAdapter onWebClient() {
        return WebClientAdapter.create(WebClient.builder()
                .baseUrl(uri.resolve("/").toString())
                .clientConnector(new JdkClientHttpConnector())
                .apply(IdempotencyWebClientCustomizer.builder()
                        .delays(watch)
                        .childKeys()
                        .build())
                .build());
    }

    private static <T> T client(Class<T> type, HttpExchangeAdapter adapter) {
        return HttpServiceProxyFactory.builderFor(adapter).build().createClient(type);
    }

    private void hasOneKeyPerCall(Payments client) {
        script(new Answer(409, "Retry-After", "2"), new Answer(0), new Answer(503), new Answer(201));

        assertThat(client.pay("pay").getStatusCode().value()).isEqualTo(201);
        assertThat(keys).hasSizeGreaterThanOrEqualTo(4);
        assertThat(keys.stream().distinct()).hasSize(1);
        keys.clear();
        anotherAttemptSendsTheSameKeys(() -> client.pay("pay"));
    }

    @Test
    void onARestClientHaveOneKeyPerCall() {
        hasOneKeyPerCall(client(Payments.class, onRestClient()));
    }

    @Test
    void onAWebClientHaveOneKeyPerCall() {
        hasOneKeyPerCall(client(Payments.class, onWebClient()));
    }

    @Test
    void onAWebClientMayAnswerLater() {
        LaterPayments client = client(LaterPayments.class, onWebClient());

        anotherAttemptSendsTheSameKeys(
                () -> client.payLater("pay").subscribeOn(Schedulers.parallel()).block());
    }
}
