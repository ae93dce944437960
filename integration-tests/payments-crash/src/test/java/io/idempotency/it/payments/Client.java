package io.idempotency.it.payments;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/** A client of the sample, over real HTTP. */
final class Client {

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final String url;

    Client(PaymentsProcess process) {
        this(process.url());
    }

    Client(String url) {
        this.url = url;
    }

    /** One attempt to pay. */
    Answer pay(String key, Payment payment, String... headers) {
        try {
            return tryToPay(key, payment, headers);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One attempt to pay at a server that may end meanwhile. */
    Answer tryToPay(String key, Payment payment, String... headers) throws IOException {
        HttpRequest.Builder request = payment(payment).header("Idempotency-Key", key);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request);
    }

    Answer payWithoutKey(Payment payment) {
        try {
            return send(payment(payment));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Answer get(String path) {
        try {
            return send(HttpRequest.newBuilder(URI.create(url + path)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How many payments the server lists for the account. */
    long paymentsOf(Payment payment) {
        return Pattern.compile("\"account\":\"" + payment.account() + "\"")
                .matcher(get("/payments").body())
                .results()
                .count();
    }

    String balance(String account) {
        return get("/accounts/" + account).body();
    }

    private HttpRequest.Builder payment(Payment payment) {
        return HttpRequest.newBuilder(URI.create(url + "/payments"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(payment.json()));
    }

    private Answer send(HttpRequest.Builder request) throws IOException {
        try {
            return new Answer(http.send(request.timeout(Duration.ofSeconds(60)).build(), BodyHandlers.ofString()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** What a client pays. */
    record Payment(String account, String amount) {

        String json() {
            return "{\"account\":\"%s\",\"amount\":%s,\"currency\":\"EUR\"}".formatted(account, amount);
        }
    }

    /** What a server answers. */
    record Answer(int status, String body, HttpResponse<String> response) {

        Answer(HttpResponse<String> response) {
            this(response.statusCode(), response.body(), response);
        }

        Optional<String> header(String name) {
            return response.headers().firstValue(name);
        }

        boolean replayed() {
            return header("Idempotent-Replayed").equals(Optional.of("true"));
        }

        /** Status and body, for messages of failed assertions. */
        @Override
        public String toString() {
            return status + " " + body;
        }
    }
}
