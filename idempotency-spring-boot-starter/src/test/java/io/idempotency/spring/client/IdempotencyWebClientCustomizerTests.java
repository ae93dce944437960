package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

class IdempotencyWebClientCustomizerTests extends ClientContract<IdempotencyWebClientCustomizer.Builder> {

    @Override
    IdempotencyWebClientCustomizer.Builder builder() {
        return IdempotencyWebClientCustomizer.builder().delays(watch);
    }

    @Override
    IdempotencyWebClientCustomizer.Builder withKeysForPut(IdempotencyWebClientCustomizer.Builder customizer) {
        return customizer.methods(HttpMethod.PUT);
    }

    @Override
    Client client(IdempotencyWebClientCustomizer.Builder customizer) {
        return new OverWebClient(uri, webClient(customizer));
    }

    @Override
    Class<WebClientRequestException> failure() {
        return WebClientRequestException.class;
    }

    private record OverWebClient(URI uri, WebClient client) implements Client {

        @Override
        public Received post() {
            return receive(client.post().uri(uri).bodyValue("pay"));
        }

        @Override
        public Received put(String header, String value) {
            return receive(client.put().uri(uri).header(header, value));
        }

        @Override
        public Received get() {
            return receive(client.get().uri(uri));
        }

        // On another thread than the one that makes the call: what is found there is found where the call begins.
        private static Received receive(WebClient.RequestHeadersSpec<?> request) {
            try {
                ResponseEntity<Void> answer = request.retrieve()
                        .toBodilessEntity()
                        .subscribeOn(Schedulers.parallel())
                        .block();
                return new Received(
                        answer.getStatusCode().value(), IdempotencyWebClientCustomizer.isReplayed(answer.getHeaders()));
            } catch (WebClientResponseException refusal) {
                return new Received(refusal.getStatusCode().value(), false);
            }
        }
    }

    private static WebClient webClient(IdempotencyWebClientCustomizer.Builder customizer) {
        return WebClient.builder()
                .clientConnector(new JdkClientHttpConnector())
                .apply(customizer.build())
                .build();
    }

    private Mono<ResponseEntity<Void>> post(WebClient client) {
        return client.post().uri(uri).bodyValue("pay").retrieve().toBodilessEntity();
    }

    @Test
    void whatIsSubscribedToAgainIsTheSameCall() {
        script(new Answer(500), new Answer(502), new Answer(201), new Answer(200));
        Mono<ResponseEntity<Void>> call = post(webClient(builder()));

        call.retry(2).block();
        call.subscribeOn(Schedulers.parallel()).block();
        post(webClient(builder())).block();

        assertThat(keys).hasSize(5);
        assertThat(keys.subList(0, 4).stream().distinct()).hasSize(1);
        assertThat(keys.get(4)).isNotEqualTo(keys.get(0));
    }

    // So many that attempts within attempts would overflow the stack.
    @Test
    void aServerThatIsAskedAgainAtOnceIsAskedUntilItAnswers() {
        AtomicInteger asked = new AtomicInteger();
        WebClient client = WebClient.builder()
                .exchangeFunction(request -> Mono.just(ClientResponse.create(
                                asked.incrementAndGet() < 20_000 ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.OK)
                        .header("Retry-After", "0")
                        .build()))
                .apply(builder().build())
                .build();

        assertThat(post(client).block().getStatusCode()).isEqualTo(HttpStatus.OK);
        assertThat(asked).hasValue(20_000);
    }

    @Test
    void noThreadWaitsBetweenTwoAttempts() throws Exception {
        script(new Answer(409, "Retry-After", "2"));
        Later later = new Later();

        CompletableFuture<ResponseEntity<Void>> answer =
                post(webClient(builder().delays(later))).toFuture();
        Sinks.One<Long> pause = later.take();
        assertThat(answer).isNotDone();
        assertThat(keys).hasSize(1);
        pause.tryEmitValue(0L).orThrow();

        assertThat(answer.get(30, TimeUnit.SECONDS).getStatusCode().value()).isEqualTo(200);
        assertThat(keys).hasSize(2);
    }

    @Test
    void aCallThatIsCancelledIsNotSentAgain() throws Exception {
        script(new Answer(409, "Retry-After", "2"));
        Later later = new Later();

        Disposable call = post(webClient(builder().delays(later))).subscribe();
        Sinks.One<Long> pause = later.take();
        call.dispose();
        pause.tryEmitValue(0L);
        post(webClient(builder())).block();

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void aBodyThatCanBeReadOnlyOnceIsNotSentTwice() {
        script(new Answer(0), new Answer(0));
        AtomicBoolean read = new AtomicBoolean();
        Flux<String> body = Flux.defer(
                () -> read.getAndSet(true) ? Flux.error(new IllegalStateException("read already")) : Flux.just("pay"));

        assertThatThrownBy(() -> webClient(builder())
                        .post()
                        .uri(uri)
                        .body(BodyInserters.fromPublisher(body, String.class))
                        .retrieve()
                        .toBodilessEntity()
                        .block())
                .hasRootCauseMessage("read already");
        assertThat(watch.pauses).hasSize(1);
    }

    /** Pauses that last until the test ends them. */
    private static final class Later implements IdempotencyWebClientCustomizer.Delays {

        private final CompletableFuture<Sinks.One<Long>> first = new CompletableFuture<>();

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Mono<Long> delay(Duration delay) {
            Sinks.One<Long> pause = Sinks.one();
            first.complete(pause);
            return pause.asMono();
        }

        private Sinks.One<Long> take() throws Exception {
            return first.get(30, TimeUnit.SECONDS);
        }
    }
}
