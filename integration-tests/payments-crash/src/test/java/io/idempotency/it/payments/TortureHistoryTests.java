package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.idempotency.Guarantee;
import io.idempotency.it.payments.Client.Payment;
import io.idempotency.it.payments.child.Announcements;
import io.idempotency.spi.RecordId;
import io.idempotency.spring.web.HttpScope;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The torture finds what a service does wrong. */
class TortureHistoryTests {

    private static final String KEY = "key-1";

    /** What the service answers to each call, one after the other; the last one for ever. */
    private final List<Reply> replies = new ArrayList<>();

    /** What the service lists. */
    private final List<String> payments = new ArrayList<>();

    private final TortureHistory history = new TortureHistory();

    @TempDir
    Path logs;

    private HttpServer server;
    private Client client;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        client = new Client("http://localhost:" + server.getAddress().getPort());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private synchronized void answer(HttpExchange exchange) throws IOException {
        Reply reply = exchange.getRequestMethod().equals("GET")
                ? new Reply(200, payments.toString())
                : replies.size() > 1 ? replies.remove(0) : replies.get(0);
        byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(reply.status(), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static String payment(int id) {
        return "{\"id\":" + id + ",\"account\":\"" + KEY + "\",\"amount\":1.00}";
    }

    private static Reply paid(int id) {
        return new Reply(201, payment(id));
    }

    private void service(List<String> listed, Reply... answers) {
        payments.addAll(listed);
        replies.addAll(List.of(answers));
    }

    /** One call of a client, and the last question of all. */
    private List<String> contradictions(Guarantee guarantee, long forgotten) throws IOException {
        history.answered(KEY, client.tryToPay(KEY, new Payment(KEY, "1")), null);
        history.drain(client);
        return history.judge(client, guarantee, new TortureLog(logs)).contradictions(guarantee, forgotten);
    }

    private void announced(String event) throws IOException {
        RecordId id = RecordId.of("payment-controller-pay", HttpScope.of(null, "", "POST", "/payments"), KEY);
        Files.writeString(logs.resolve("process-1.log"), "Started\n" + event + Announcements.name(id) + "\n");
    }

    @Test
    void onePaymentAndOneAnswerContradictNothing() throws IOException {
        service(List.of(payment(1)), paid(1));

        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0)).isEmpty();
    }

    @Test
    void secondPaymentIsFound() throws IOException {
        service(List.of(payment(1), payment(2)), paid(1));

        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0)).containsExactly("1 payments too many, of [key-1]");
    }

    @Test
    void secondPaymentIsFoundUnderAtMostOnceWhateverIsAnnounced() throws IOException {
        announced(Announcements.TAKEOVER);
        service(List.of(payment(1), payment(2)), paid(1));

        assertThat(contradictions(Guarantee.AT_MOST_ONCE, 0)).containsExactly("1 payments too many, of [key-1]");
    }

    @Test
    void secondPaymentIsAllowedToAStoreThatForgotAndNotAThird() throws IOException {
        service(List.of(payment(1), payment(2), payment(3)), paid(1));

        assertThat(contradictions(Guarantee.AT_MOST_ONCE, 1)).containsExactly("2 payments too many, of [key-1]");
    }

    @Test
    void secondPaymentOfATakeoverIsAllowedUnderAtLeastOnceAndNotAThird() throws IOException {
        announced(Announcements.TAKEOVER);
        service(List.of(payment(1), payment(2)), paid(2));
        assertThat(contradictions(Guarantee.AT_LEAST_ONCE, 0)).isEmpty();

        payments.add(payment(3));
        assertThat(contradictions(Guarantee.AT_LEAST_ONCE, 0)).containsExactly("1 payments too many, of [key-1]");
    }

    @Test
    void secondPaymentOfAFailureIsAllowedUnderAtLeastOnceOnly() throws IOException {
        service(List.of(payment(1), payment(2)), new Reply(500, "commit"), paid(2));

        assertThat(contradictions(Guarantee.AT_LEAST_ONCE, 0)).isEmpty();
        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0)).containsExactly("1 payments too many, of [key-1]");
    }

    @Test
    void anotherAnswerIsFound() throws IOException {
        service(List.of(payment(1)), paid(1), new Reply(201, payment(1) + " "));

        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0)).containsExactly("different answers for [key-1]");
    }

    @Test
    void anotherAnswerIsAllowedIfTheFirstWasNotStored() throws IOException {
        announced(Announcements.UNSTORED);
        service(List.of(payment(1), payment(2)), paid(1), paid(2));

        assertThat(contradictions(Guarantee.AT_LEAST_ONCE, 1)).isEmpty();
    }

    @Test
    void answerThatIsNotTrueIsFound() throws IOException {
        service(List.of(payment(1)), paid(2));

        assertThat(contradictions(Guarantee.AT_LEAST_ONCE, 0))
                .containsExactly("payments that were told of and are not there: [key-1]");
    }

    @Test
    void paymentThatNobodyKnowsOfIsFound() throws IOException {
        service(List.of(), paid(1));

        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0))
                .containsExactly(
                        "payments that were told of and are not there: [key-1]", "neither paid nor unknown: [key-1]");
    }

    @Test
    void unknownOutcomeIsFoundWhereThereMustBeNone() throws IOException {
        service(
                List.of(),
                new Reply(409, "{\"code\":\"in-progress\"}"),
                new Reply(409, "{\"code\":\"outcome-unknown\"}"));

        assertThat(contradictions(Guarantee.AT_MOST_ONCE, 0)).isEmpty();
        assertThat(contradictions(Guarantee.EXACTLY_ONCE, 0)).containsExactly("unknown outcomes of [key-1]");
    }

    private record Reply(int status, String body) {}
}
