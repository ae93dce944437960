package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.StoreUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Case 112: what may go wrong while a response is made on other threads. */
class AsyncHttpTests {

    private final TestServer server = Servers.leased(container());
    private final String key = TestServer.newKey();

    Container container() {
        return Container.TOMCAT;
    }

    private Answer post(String path) {
        return server.post("/async/" + path, key, "{}");
    }

    private int effects() {
        return server.effects().of(key);
    }

    /** Case 112: the work may still be going on, so that its key is not free. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout", "raw-timeout"})
    void holdsTheKeyOfWorkThatTimedOut(String path) {
        Answer first = post(path);
        Answer retry = post(path);

        assertThat(first.status()).isGreaterThanOrEqualTo(500);
        assertThat(retry.problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112: held, but no longer than the lease of somebody who is not heard of again. */
    @Test
    void freesTheKeyOfWorkThatTimedOutWithItsLease() {
        assertThat(post("abandoned").status()).isEqualTo(500);

        await().atMost(Duration.ofSeconds(30)).until(() -> post("abandoned").status() == 200);
        assertThat(effects()).isEqualTo(2);
    }

    /** Case 112: the policy may know better. */
    @Test
    void freesTheKeyOfATimeoutThatIsNamedHarmless() {
        assertThat(post("harmless-timeout").status()).isEqualTo(503);
        assertThat(post("harmless-timeout").status()).isEqualTo(503);
        assertThat(effects()).isEqualTo(2);
    }

    /** Case 112: what the application answers on a timeout is its answer. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout-result", "raw-timeout-result"})
    void storesWhatIsAnsweredOnATimeout(String path) {
        Answer first = post(path);
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(202);
        assertThat(first.text()).isEqualTo("accepted");
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.text()).isEqualTo("accepted");
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112: an error result is judged before an advice maps it. */
    @Test
    void storesAnErrorThatThePolicyWantsStored() {
        Answer first = post("stored-error");
        Answer retry = post("stored-error");

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.text()).isEqualTo("no funds");
        assertThat(retry.status()).isEqualTo(503);
        assertThat(retry.text()).isEqualTo("no funds");
        assertThat(retry.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112. */
    @Test
    void holdsAnErrorThatLeavesTheOutcomeOpen() {
        assertThat(post("ambiguous-error").status()).isEqualTo(500);
        assertThat(post("ambiguous-error").problem()).isEqualTo("in-progress");
    }

    /** Case 112: a handler that does not return leaves nobody who could answer later. */
    @Test
    void endsWithAHandlerThatFailsAfterItHasStartedAsync() {
        assertThat(post("started-and-failed").status()).isEqualTo(500);
        assertThat(post("started-and-failed").status()).isEqualTo(500);
        assertThat(effects()).isEqualTo(2);
    }

    /** Case 112: what a Callable throws is the application's failure, also where Spring MVC stands right below it. */
    @Test
    void holdsTheKeyOfACallableThatFailedUnderAtMostOnce() {
        assertThat(post("failing-callable").status()).isEqualTo(500);
        assertThat(post("failing-callable").problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112. */
    @Test
    void storesTheFailureOfACallableThatThePolicyWantsStored() {
        assertThat(post("stored-callable").status()).isEqualTo(500);
        Answer retry = post("stored-callable");

        assertThat(retry.status()).isEqualTo(500);
        assertThat(retry.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    /** Cases 112 and 114. */
    @Test
    void replaysAnAsynchronousSendError() {
        Answer first = post("not-found");
        Answer retry = post("not-found");

        assertThat(first.status()).isEqualTo(404);
        assertThat(retry.status()).isEqualTo(404);
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.json().get("message")).isEqualTo(first.json().get("message"));
        assertThat(effects()).isEqualTo(1);
    }

    /** The servlet API lets a handler go on after the end that it has announced: the end comes with its return. */
    @Test
    void sendsWhatAHandlerWritesAfterItHasAnnouncedTheEnd() {
        Answer plain = Servers.plain(container()).post("/async/announced-end", key, "{}");
        Answer first = post("announced-end");

        assertThat(first.text()).isEqualTo(plain.text()).isEqualTo("begun done");
        assertThat(post("announced-end").text()).isEqualTo("begun done");
        assertThat(post("announced-end").replayed()).isTrue();
    }

    /** Whoever asks the request for its context gets the one that knows of the record. */
    @Test
    void recordsWhatEndsByTheContextOfTheRequest() {
        assertThat(post("context-of-request").text()).isEqualTo("done");
        assertThat(post("context-of-request").replayed()).isTrue();
    }

    @Test
    void writesWithAListener() {
        Answer first = post("write-listener");
        Answer retry = post("write-listener");

        assertThat(first.text()).isEqualTo("written when ready");
        assertThat(retry.text()).isEqualTo("written when ready");
        assertThat(retry.replayed()).isTrue();
    }

    /** The fact is stored before the first byte; if it cannot be, no byte goes out and the key is not free. */
    @ParameterizedTest
    @ValueSource(strings = {"stream", "large"})
    void sendsNothingOfAStreamThatCannotBeRecorded(String path) throws Exception {
        HookedStore store = server.bean(HookedStore.class);
        Answer first;
        try (AutoCloseable failing =
                store.failing("complete", () -> new StoreUnavailableException("silent", new IOException()))) {
            first = post(path);
        }
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.problem()).isEqualTo("store-unavailable");
        assertThat(retry.problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "large"})
    void recordsAStreamOnceAndBeforeItIsSent(String path) {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer first = post(path);
        // Not what the engine does in the background for keys of other tests.
        List<String> calls = store.drain().stream()
                .filter(List.of("tryClaim", "complete")::contains)
                .toList();
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("Idempotency-Expires")).isNotNull();
        assertThat(calls).containsExactly("tryClaim", "complete");
        assertThat(retry.problem()).isEqualTo("result-not-replayable");
        assertThat(retry.json().get("originalStatus").asInt()).isEqualTo(200);
    }

    /** The statuses that are not stored are not stored because they are long either. */
    @Test
    void releasesALargeRefusal() {
        Answer first = post("large-refusal");
        Answer retry = post("large-refusal");

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.body()).hasSize(2 << 20);
        assertThat(retry.status()).isEqualTo(503);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    void answersAsynchronouslyWithoutProtectionWhereThatIsWanted() throws Exception {
        HookedStore store = server.bean(HookedStore.class);
        try (AutoCloseable failing =
                store.failing("tryClaim", () -> new StoreUnavailableException("silent", new IOException()))) {
            assertThat(post("proceeding").text()).isEqualTo("later");
        }
    }

    /** Nothing of it is sent or recorded: the outcome of what timed out is not known. */
    @Test
    void refusesWhatIsWrittenAfterTheEnd() {
        HookedStore store = server.bean(HookedStore.class);
        try (Effects.Stop stop = server.effects().stop(key)) {
            assertThat(post("late-writer").status()).isEqualTo(500);
            stop.awaitArrival();
            store.drain();
        }

        await().atMost(Duration.ofSeconds(30)).until(() -> server.effects().of("refused " + key) == 1);
        assertThat(store.drain()).doesNotContain("complete");
        assertThat(post("late-writer").problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void answersWithoutProtectionByAKeyOfItsArgumentsWhereThatIsWanted() throws Exception {
        HookedStore store = server.bean(HookedStore.class);
        try (AutoCloseable failing =
                store.failing("tryClaim", () -> new StoreUnavailableException("silent", new IOException()))) {
            assertThat(post("proceeding-by-key").text()).isEqualTo("run 1");
        }
        assertThat(post("proceeding-by-key").text()).isEqualTo("run 2");
        assertThat(post("proceeding-by-key").replayed()).isTrue();
    }

    /** A key that was lost to somebody who still works: refused, and nothing of the loser's answer is in the refusal. */
    @Test
    void refusesInPlaceOfAnAnswerWhoseKeyIsHeldByAnother() {
        CompletableFuture<Answer> first;
        CompletableFuture<Answer> second;
        try (Effects.Stop winner = server.effects().stop("2 of " + key)) {
            try (Effects.Stop loser = server.effects().stop("1 of " + key)) {
                first = server.postLater("/async/outdone", key, "{}");
                loser.awaitArrival();
                second = await().atMost(Duration.ofSeconds(30)).until(this::takeOver, answer -> effects() == 2);
                winner.awaitArrival();
            }
            Answer refused = first.join();

            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.problem()).isEqualTo("in-progress");
            assertThat(refused.header("ETag")).isNull();
            assertThat(refused.text()).doesNotContain("run 1");
        }
        assertThat(second.join().status()).isEqualTo(200);
    }

    private CompletableFuture<Answer> takeOver() {
        CompletableFuture<Answer> answer = server.postLater("/async/outdone", key, "{}");
        await().until(() -> answer.isDone() || effects() == 2);
        return answer;
    }

    /** A key that was lost on the way: the winner's answer counts, also for a response that is made elsewhere. */
    @Test
    void answersWithTheWinnerAfterItLostItsKey() {
        Answer slow;
        CompletableFuture<Answer> first;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/async/short-lease", key, "{}");
            stop.awaitArrival();
            slow = await().atMost(Duration.ofSeconds(60))
                    .until(() -> post("short-lease"), answer -> answer.status() == 200);
        }

        assertThat(slow.text()).isEqualTo("run 2");
        assertThat(first.join().text()).isEqualTo("run 2");
        assertThat(first.join().replayed()).isTrue();
    }

    /** The same for a stream, whose first byte comes after the key was lost. */
    @Test
    void sendsNoStreamAfterItLostItsKey() {
        CompletableFuture<Answer> first;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/async/late-stream", key, "{}");
            stop.awaitArrival();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> post("late-stream"), answer -> "run 2".equals(answer.text()));
        }

        assertThat(first.join().problem()).isEqualTo("result-not-replayable");
    }
}
