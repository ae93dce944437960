package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.abandoned;
import static io.idempotency.redis.Claims.assertReplays;
import static io.idempotency.redis.Claims.claim;
import static io.idempotency.redis.Claims.freshId;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.idempotency.StoreUnavailableException;
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.JedisPoolConfig;

/** What the store does when its server, its network or its memory does not do what it should. */
class RedisFaultsTests {

    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private static RedisServer server;
    private static TcpProxy proxy;
    private static LettuceConnectionFactory lettuce;
    private static JedisConnectionFactory jedis;

    private IdempotencyStore store;
    private IdempotencyStore onJedis;

    @BeforeAll
    static void start() {
        server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
        proxy = TcpProxy.to("127.0.0.1", server.port());
        lettuce = Factories.lettuce(proxy.port(), Factories.PATIENT);
        jedis = Factories.jedis(proxy.port(), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        jedis.destroy();
        proxy.close();
        server.close();
    }

    @BeforeEach
    void newStores() {
        store = RedisIdempotencyStore.builder(lettuce).build();
        onJedis = RedisIdempotencyStore.builder(jedis).build();
    }

    /** Lettuce sends a command again whose connection was lost before the reply came. */
    @Nested
    class SentTwice {

        private int swallowedBefore;

        // The reply that gets lost must be the one that counts, not one about a script that the server does not know
        // yet.
        @BeforeEach
        void everyScriptIsKnown() {
            Lease lease = claim(store, request(freshId()));
            store.renew(lease);
            store.tryClaim(request(lease.id()));
            store.complete(lease, result("warm"), LONG);
            store.release(claim(store, request(freshId())));
            swallowedBefore = proxy.swallowed();
        }

        @Test
        void claimIsStillOurs() {
            ClaimRequest request = request(freshId());

            ClaimResult answer = twice(() -> store.tryClaim(request));

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
        }

        @Test
        void takeoverIsStillOursAndATakeover() {
            RecordId id = freshId();
            ClaimRequest request =
                    request(id).takingOverFrom(abandoned(store, id).owner());

            ClaimResult answer = twice(() -> store.tryClaim(request));

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 2), true));
        }

        @Test
        void completionIsStillApplied() {
            RecordId id = freshId();
            Lease lease = claim(store, request(id));

            assertThat(twice(() -> store.complete(lease, result("first"), LONG)))
                    .isEqualTo(WriteOutcome.APPLIED);

            assertReplays(store, id, "first");
        }

        @Test
        void renewalIsStillApplied() {
            Lease lease = claim(store, request(freshId()));

            assertThat(twice(() -> store.renew(lease))).isEqualTo(WriteOutcome.APPLIED);
        }

        @Test
        void resultThatWasRecordedIsStillOurs() {
            ClaimRequest request = request(freshId());

            ClaimResult answer = twice(() -> store.recordDone(request, result("known")));

            assertThat(answer)
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.owner()).isEqualTo(request.owner()));
        }

        @Test
        void releaseHasReleased() {
            Lease lease = claim(store, request(freshId()));

            twice(() -> store.release(lease));

            assertThat(store.find(lease.id())).isEmpty();
        }

        private <R> R twice(Supplier<R> call) {
            proxy.swallowNextReply();
            R answer = call.get();
            assertThat(proxy.swallowed()).isEqualTo(swallowedBefore + 1);
            return answer;
        }
    }

    /** Jedis reports a connection that was lost before the reply came. */
    @Nested
    class ReplyLost {

        @Test
        void nothingIsKnownAndTheNextCallFindsOut() {
            ClaimRequest request = request(freshId());
            onJedis.find(request.id());
            proxy.swallowNextReply();

            assertUnavailable(() -> onJedis.tryClaim(request));

            assertThat(onJedis.tryClaim(request)).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
            Lease lease = new Lease(request, 1);
            proxy.swallowNextReply();
            assertUnavailable(() -> onJedis.complete(lease, result("first"), LONG));
            assertThat(onJedis.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        }
    }

    /** The server hangs: connections stand, and nothing comes back. */
    @Nested
    class Frozen {

        private final LettuceConnectionFactory hastyLettuce = Factories.lettuce(proxy.port(), TIMEOUT);
        private final JedisConnectionFactory hastyJedis = Factories.jedis(proxy.port(), TIMEOUT);
        private final List<IdempotencyStore> stores = List.of(
                RedisIdempotencyStore.builder(hastyLettuce).build(),
                RedisIdempotencyStore.builder(hastyJedis).build());

        @AfterEach
        void thaw() {
            server.thaw();
            hastyLettuce.destroy();
            hastyJedis.destroy();
        }

        private void awaitAnswers() {
            for (IdempotencyStore each : stores) {
                await().atMost(60, TimeUnit.SECONDS)
                        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                        .until(() -> each.find(freshId()).isEmpty());
            }
        }

        @Test
        void everyCallEndsWithTheCommandTimeoutAndTheNextOnesWork() {
            RecordId id = freshId();
            Lease lease = claim(store, request(id));
            awaitAnswers();
            server.freeze();

            for (IdempotencyStore each : stores) {
                for (Runnable call : List.<Runnable>of(
                        () -> each.tryClaim(request(freshId())),
                        () -> each.renew(lease),
                        () -> each.complete(lease, result("first"), LONG),
                        () -> each.recordDone(request(freshId()), result("known")),
                        () -> each.find(id))) {
                    long start = System.nanoTime();
                    assertUnavailable(call);
                    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(6));
                }
            }

            server.thaw();
            awaitAnswers();
            assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(store, id, "first");
        }

        @Test
        void interruptEndsTheWaitAndIsKept() throws Exception {
            Lease lease = claim(store, request(freshId()));
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicReference<Boolean> flag = new AtomicReference<>();
            server.freeze();
            Thread caller = new Thread(() -> {
                try {
                    store.renew(lease);
                } catch (Throwable e) {
                    thrown.set(e);
                    flag.set(Thread.currentThread().isInterrupted());
                }
            });
            caller.start();
            await().atMost(60, TimeUnit.SECONDS).until(() -> caller.getState() == Thread.State.TIMED_WAITING);
            caller.interrupt();
            caller.join();

            assertThat(thrown.get()).isInstanceOf(StoreUnavailableException.class);
            assertThat(flag.get()).isTrue();
        }

        @Test
        void interruptWhileWaitingForAConnectionIsKept() throws Exception {
            Lease lease = claim(store, request(freshId()));
            JedisPoolConfig pool = new JedisPoolConfig();
            pool.setMaxTotal(1);
            JedisConnectionFactory single = Factories.jedis(server.port(), pool);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicReference<Boolean> flag = new AtomicReference<>();
            try (RedisConnection taken = single.getConnection()) {
                taken.ping();
                Thread caller = new Thread(() -> {
                    try {
                        RedisIdempotencyStore.builder(single).build().renew(lease);
                    } catch (Throwable e) {
                        thrown.set(e);
                        flag.set(Thread.currentThread().isInterrupted());
                    }
                });
                caller.start();
                await().atMost(60, TimeUnit.SECONDS).until(() -> caller.getState() == Thread.State.WAITING);
                caller.interrupt();
                caller.join();
            } finally {
                single.destroy();
            }

            assertThat(thrown.get()).isInstanceOf(StoreUnavailableException.class);
            assertThat(flag.get()).isTrue();
        }
    }

    /** Replies come after the caller has given up. */
    @Nested
    class Late {

        private final LettuceConnectionFactory hastyLettuce = Factories.lettuce(proxy.port(), TIMEOUT);
        private final JedisConnectionFactory hastyJedis = Factories.jedis(proxy.port(), TIMEOUT);

        @AfterEach
        void inTimeAgain() {
            proxy.delayReplies(Duration.ZERO);
            hastyLettuce.destroy();
            hastyJedis.destroy();
        }

        // What comes late must not be taken for the answer to the next command.
        @Test
        void nothingIsKnownAndEveryCallCanBeRepeated() {
            for (IdempotencyStore each : List.of(
                    RedisIdempotencyStore.builder(hastyLettuce).build(),
                    RedisIdempotencyStore.builder(hastyJedis).build())) {
                ClaimRequest request = request(freshId());
                ClaimRequest known = request(freshId());
                Lease lease = new Lease(request, 1);
                Lease released = claim(store, request(freshId()));
                await().atMost(60, TimeUnit.SECONDS)
                        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                        .until(() -> each.find(freshId()).isEmpty());

                late(() -> each.tryClaim(request));
                assertThat(repeated(() -> each.tryClaim(request))).isEqualTo(new ClaimResult.Claimed(lease, false));
                late(() -> each.renew(lease));
                assertThat(repeated(() -> each.renew(lease))).isEqualTo(WriteOutcome.APPLIED);
                late(() -> each.complete(lease, result("first"), LONG));
                assertThat(repeated(() -> each.complete(lease, result("first"), LONG)))
                        .isEqualTo(WriteOutcome.APPLIED);
                // Whether the first sending came that far depends on whether its connection was there.
                late(() -> each.release(released));
                repeated(() -> each.release(released));
                assertThat(store.find(released.id())).isEmpty();
                late(() -> each.recordDone(known, result("known")));
                assertThat(repeated(() -> each.recordDone(known, result("known"))))
                        .isInstanceOfAny(ClaimResult.Claimed.class, ClaimResult.Done.class);
                assertThat(store.find(known.id()).orElseThrow().owner()).isEqualTo(known.owner());
                assertReplays(store, known.id(), "known");
                assertReplays(store, request.id(), "first");
            }
        }

        private void late(Runnable call) {
            proxy.delayReplies(TIMEOUT.multipliedBy(2));
            assertUnavailable(call);
            proxy.delayReplies(Duration.ZERO);
        }

        private <R> R repeated(Supplier<R> call) {
            return await().atMost(60, TimeUnit.SECONDS)
                    .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                    .until(call::get, answer -> true);
        }
    }

    @Test
    void interruptFromBeforeDoesNotDisturbTheCallAndIsKept() {
        for (IdempotencyStore each : List.of(store, onJedis)) {
            Lease lease = claim(each, request(freshId()));
            Thread.currentThread().interrupt();
            WriteOutcome outcome;
            boolean flag;
            try {
                outcome = each.release(lease);
            } finally {
                flag = Thread.interrupted();
            }

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertThat(flag).isTrue();
        }
    }

    // Case 34.
    @Test
    void killedServerIsUnavailableAndComesBackToTheSameStore() {
        RecordId done = freshId();
        store.complete(claim(store, request(done)), result("first"), LONG);
        Lease lease = claim(onJedis, request(freshId()));

        LettuceConnectionFactory hasty = Factories.lettuce(proxy.port(), TIMEOUT);
        IdempotencyStore onHasty = RedisIdempotencyStore.builder(hasty).build();
        await().atMost(60, TimeUnit.SECONDS)
                .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .until(() -> onHasty.find(done).isPresent());

        server.kill();

        for (IdempotencyStore each : List.of(onHasty, onJedis)) {
            assertUnavailable(() -> each.tryClaim(request(freshId())));
            assertUnavailable(() -> each.tryClaim(request(done)));
            assertUnavailable(() -> each.complete(lease, result("late"), LONG));
            assertUnavailable(() -> each.forget(done));
        }

        server.restart();

        for (IdempotencyStore each : List.of(onHasty, onJedis, store)) {
            await().atMost(60, TimeUnit.SECONDS)
                    .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                    .until(() -> each.tryClaim(request(freshId())) instanceof ClaimResult.Claimed);
            assertReplays(each, done, "first");
        }
        assertThat(store.complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        hasty.destroy();
    }

    /** Case 37: no more memory, and nothing may be evicted. */
    @Nested
    class OutOfMemory {

        @AfterEach
        void room() {
            server.does(redis -> redis.configSet("maxmemory", "0"));
        }

        private void fill() {
            server.does(redis -> redis.configSet("maxmemory", "1mb"));
        }

        @Test
        void claimIsRefusedAndLeavesNothing() {
            RecordId id = freshId();
            fill();

            for (IdempotencyStore each : List.of(store, onJedis)) {
                assertUnavailable(() -> each.tryClaim(request(id)), "maxmemory");
                assertUnavailable(() -> each.recordDone(request(id), result("known")), "maxmemory");
            }

            assertThat(store.find(id)).isEmpty();
        }

        @Test
        void duplicatesStillGetTheirResult() {
            RecordId done = freshId();
            store.complete(claim(store, request(done)), result("first"), LONG);
            RecordId running = freshId();
            claim(store, request(running));
            fill();

            for (IdempotencyStore each : List.of(store, onJedis)) {
                assertReplays(each, done, "first");
                assertThat(each.tryClaim(request(running))).isInstanceOf(ClaimResult.InProgress.class);
                assertThat(each.find(done)).isPresent();
            }
        }

        @Test
        void completionIsRefusedAndTheRecordStaysInProgress() {
            Lease lease = claim(store, request(freshId()));
            fill();

            assertUnavailable(() -> store.complete(lease, result("first"), LONG), "maxmemory");

            IdempotencyRecord record = store.find(lease.id()).orElseThrow();
            assertThat(record.done()).isFalse();
            assertThat(record.abandoned()).isFalse();
            room();
            assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        }

        @Test
        void takeoverIsRefused() {
            RecordId id = freshId();
            Lease vanished = abandoned(store, id);
            fill();

            assertUnavailable(() -> store.tryClaim(request(id).takingOverFrom(vanished.owner())), "maxmemory");

            assertThat(store.find(id).orElseThrow().owner()).isEqualTo(vanished.owner());
        }

        @Test
        void renewalAndReleaseStillWork() {
            Lease lease = claim(store, request(freshId()));
            Lease renewed = claim(store, request(freshId()));
            store.renew(renewed);
            fill();

            assertThat(store.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store.renew(renewed)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store.release(lease)).isEqualTo(WriteOutcome.APPLIED);
        }
    }

    // Case 39.
    @Test
    void ownerOfALostRecordNoticesIt() {
        RecordId id = freshId();
        Lease first = claim(store, request(id));
        server.does(redis -> redis.flushAll());
        Lease second = claim(onJedis, request(id));

        assertThat(store.renew(first)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.complete(first, result("of the first"), LONG)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.release(first)).isEqualTo(WriteOutcome.LOST);
        assertThat(onJedis.complete(second, result("of the second"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        assertReplays(store, id, "of the second");
    }

    @Test
    void takeoverHasOneWinnerAmongThirtyTwoThreads() throws Exception {
        int crowd = 32;
        ExecutorService threads = Executors.newFixedThreadPool(crowd);
        try {
            for (int round = 0; round < 5; round++) {
                RecordId id = freshId();
                Lease vanished = abandoned(store, id);
                CyclicBarrier start = new CyclicBarrier(crowd);
                List<Future<ClaimResult>> answers = new ArrayList<>();
                for (int i = 0; i < crowd; i++) {
                    IdempotencyStore each = i % 2 == 0 ? store : onJedis;
                    answers.add(threads.submit(() -> {
                        start.await();
                        return each.tryClaim(request(id).takingOverFrom(vanished.owner()));
                    }));
                }
                int winners = 0;
                for (Future<ClaimResult> answer : answers) {
                    winners += answer.get(30, TimeUnit.SECONDS) instanceof ClaimResult.Claimed ? 1 : 0;
                }

                assertThat(winners).isEqualTo(1);
                assertThat(store.find(id).orElseThrow().token()).isEqualTo(2);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void assertUnavailable(Runnable call) {
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run);
    }

    private static void assertUnavailable(Runnable call, String reason) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(call::run)
                .withMessageContaining(reason);
    }
}
