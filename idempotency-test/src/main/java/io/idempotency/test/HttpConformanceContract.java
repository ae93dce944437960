package io.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a client may expect of an endpoint with an {@code Idempotency-Key}, by the IETF draft
 * {@code draft-ietf-httpapi-idempotency-key-header} and by this library's manual. Extend it, name an endpoint of a running service, and
 * run it: any service, in any language.
 *
 * <p>The endpoint must require a key and answer its body with a 2xx. It is called about fifty times and does its work about twenty times.
 *
 * @since 0.1.0
 */
public abstract class HttpConformanceContract {

    private static final int MANY = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    /** The endpoint. */
    protected abstract HttpTarget target();

    /** Name of the header of the key. */
    protected String keyHeader() {
        return "Idempotency-Key";
    }

    /** Name of the header that marks a replay. */
    protected String replayedHeader() {
        return "Idempotent-Replayed";
    }

    /** Draft 2.1: a key is a string of the structured fields. */
    @Test
    void acceptsAKeyThatIsAStructuredString() {
        assertFirst(send('"' + newKey() + '"'));
    }

    /** Draft 2.6: a retry of a request that was done gets its result. */
    @Test
    void answersARetryWithTheFirstResult() {
        String key = newKey();

        HttpResponse<String> first = send(key);
        HttpResponse<String> retry = send(key);

        assertFirst(first);
        assertReplay(retry, first);
    }

    /** A quoted key and the same without quotes are one key; parameters do not matter. */
    @Test
    void knowsAKeyHoweverItIsWritten() {
        String key = newKey();

        HttpResponse<String> first = send(key);

        assertReplay(send('"' + key + '"'), first);
        assertReplay(send('"' + key + "\";a=1"), first);
    }

    /** Draft 2.6: another key is another request. */
    @Test
    void runsAnotherKeyAnew() {
        assertFirst(send(newKey()));
        assertFirst(send(newKey()));
    }

    /** Keys that differ in case are different. */
    @Test
    void tellsKeysApartByTheirCase() {
        String key = "k-" + newKey();

        assertFirst(send(key));
        assertFirst(send("K" + key.substring(1)));
    }

    /** Draft 2.7: 400 where a key is required and there is none. */
    @Test
    void refusesARequestWithoutAKey() {
        assertProblem(send(), 400);
    }

    /** Draft 2.7. */
    @ParameterizedTest
    @ValueSource(strings = {"\"\"", "\"open", "two words", "one, two", "\"one\", \"two\""})
    void refusesAKeyThatIsNone(String key) {
        assertProblem(send(key), 400);
    }

    /** Two lines of the header are two keys, even if they are equal. */
    @Test
    void refusesSeveralKeys() {
        String key = newKey();

        assertProblem(send(key, newKey()), 400);
        assertProblem(send(key, key), 400);
        assertFirst(send(key));
    }

    /** A key is 255 characters long at most. */
    @Test
    void boundsTheLengthOfAKey() {
        String padded = newKey() + "x".repeat(255);

        assertFirst(send(padded.substring(0, 255)));
        assertProblem(send(padded.substring(0, 256)), 400);
    }

    /** Draft 2.7: 422 where the key was used for another request; the first one is not touched. */
    @Test
    void refusesAnotherRequestUnderTheSameKey() {
        String key = newKey();
        HttpResponse<String> first = send(key);

        HttpResponse<String> other =
                exchange(target().otherBody(), Map.of(), key).join();

        assertProblem(other, 422);
        assertThat(other.body())
                .as("a refusal tells nothing of the first request")
                .doesNotContain(key);
        assertReplay(send(key), first);
    }

    /**
     * Draft, security considerations: a key is looked up together with its caller. Nobody gets, disturbs or finds out what another one
     * has done by sending his key. Needs {@link HttpTarget#withCallers another caller}.
     */
    @Test
    void keepsTheKeysOfCallersApart() {
        assumeFalse(
                target().otherCaller().isEmpty(),
                "Not run: the target names no other caller (HttpTarget.withCallers), so nobody knows whether callers share keys");
        String key = newKey();
        String anotherKey = newKey();
        HttpResponse<String> first = send(key);
        HttpResponse<String> another = send(anotherKey);

        HttpResponse<String> ofOther = sendAsOther(target().body(), key);
        HttpResponse<String> otherBodyOfOther = sendAsOther(target().otherBody(), anotherKey);

        assertThat(List.of(ofOther, otherBodyOfOther))
                .as("the same key of another caller is another key")
                .allSatisfy(this::assertFirst);
        if (!another.body().equals(first.body())) {
            assertThat(ofOther.body())
                    .as("where answers tell calls apart, nobody gets another caller's")
                    .isNotEqualTo(first.body());
        }
        assertReplay(send(key), first);
        assertReplay(send(anotherKey), another);
        assertReplay(sendAsOther(target().body(), key), ofOther);
        assertReplay(sendAsOther(target().otherBody(), anotherKey), otherBodyOfOther);
    }

    /** Draft 2.7: 409 while the first request runs. Of many at once one does the work, and all get its result in the end. */
    @Test
    void doesTheWorkOfManyEqualRequestsOnce() throws Exception {
        String key = newKey();

        List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, MANY)
                .mapToObj(i -> exchange(target().body(), Map.of(), key))
                .toList();
        List<HttpResponse<String>> answers =
                all.stream().map(CompletableFuture::join).toList();
        List<HttpResponse<String>> first = answers.stream()
                .filter(each -> isSuccess(each) && !isReplay(each))
                .toList();

        assertThat(first).as("exactly one request does the work").hasSize(1);
        answers.stream().filter(each -> !isSuccess(each)).forEach(this::assertBusy);
        assertReplay(afterWaiting(key), first.get(0));
    }

    private void assertBusy(HttpResponse<String> answer) {
        assertProblem(answer, 409);
        assertThat(answer.headers().firstValue("Retry-After"))
                .as("a request that comes too early is told when to come again")
                .hasValueSatisfying(
                        seconds -> assertThat(Integer.parseInt(seconds)).isPositive());
    }

    private HttpResponse<String> afterWaiting(String key) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        HttpResponse<String> answer = send(key);
        while (answer.statusCode() == 409 && System.nanoTime() < deadline) {
            Thread.sleep(100);
            answer = send(key);
        }
        return answer;
    }

    private void assertFirst(HttpResponse<String> answer) {
        assertThat(isSuccess(answer)).as("a first request is done: %s", answer).isTrue();
        assertThat(isReplay(answer))
                .as("a first answer is not marked as a replay")
                .isFalse();
    }

    private void assertReplay(HttpResponse<String> answer, HttpResponse<String> first) {
        assertThat(answer.statusCode()).as("status of a replay").isEqualTo(first.statusCode());
        assertThat(answer.body()).as("body of a replay").isEqualTo(first.body());
        assertThat(answer.headers().allValues("Content-Type"))
                .as("media type of a replay")
                .isEqualTo(first.headers().allValues("Content-Type"));
        assertThat(answer.headers().allValues("Location"))
                .as("location of a replay")
                .isEqualTo(first.headers().allValues("Location"));
        assertThat(isReplay(answer)).as("a replay is marked, once").isTrue();
    }

    private static void assertProblem(HttpResponse<String> answer, int status) {
        assertThat(answer.statusCode()).as("status of a refusal").isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type"))
                .as("media type of a refusal")
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
        assertThat(answer.body())
                .as("a problem has a type, a title and its status")
                .contains("\"type\"", "\"title\"", "\"status\":" + status);
    }

    private boolean isReplay(HttpResponse<String> answer) {
        return answer.headers().allValues(replayedHeader()).equals(List.of("true"));
    }

    private static boolean isSuccess(HttpResponse<String> answer) {
        return answer.statusCode() / 100 == 2;
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private HttpResponse<String> send(String... keys) {
        return exchange(target().body(), Map.of(), keys).join();
    }

    private HttpResponse<String> sendAsOther(String body, String key) {
        return exchange(body, target().otherCaller(), key).join();
    }

    private CompletableFuture<HttpResponse<String>> exchange(
            String body, Map<String, String> callerInPlace, String... keys) {
        HttpTarget target = target();
        HttpRequest.Builder request = HttpRequest.newBuilder(target.endpoint())
                .timeout(PATIENCE)
                .header("Content-Type", target.contentType())
                .method(target.method(), BodyPublishers.ofString(body));
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.putAll(target.headers());
        headers.putAll(callerInPlace);
        headers.forEach(request::header);
        for (String key : keys) {
            request.header(keyHeader(), key);
        }
        return client.sendAsync(request.build(), BodyHandlers.ofString());
    }
}
