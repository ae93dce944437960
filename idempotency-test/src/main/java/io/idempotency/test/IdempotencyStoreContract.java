package io.idempotency.test;

import static io.idempotency.test.ClaimRequests.FINGERPRINT;
import static io.idempotency.test.ClaimRequests.LONG;
import static io.idempotency.test.ClaimRequests.OPERATION;
import static io.idempotency.test.ClaimRequests.PAST_SHORT;
import static io.idempotency.test.ClaimRequests.SHORT;
import static io.idempotency.test.ClaimRequests.fingerprint;
import static io.idempotency.test.ClaimRequests.freshId;
import static io.idempotency.test.ClaimRequests.freshOwner;
import static io.idempotency.test.ClaimRequests.request;
import static io.idempotency.test.ClaimRequests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The facts that every {@link IdempotencyStore} has to satisfy. Extend it, give it a fixture, run it.
 *
 * <pre>
 * class MyStoreTests extends IdempotencyStoreContract {
 *     &#64;Override
 *     protected StoreFixture createFixture() {
 *         return MyStore::connect;
 *     }
 * }
 * </pre>
 *
 * <p>On a store that runs on real time it takes about half a minute. No fact depends on how fast the machine is: what has to happen
 * in time is judged by the time that was measured.
 *
 * @since 0.1.0
 */
// Case 22: one table of facts for every store.
public abstract class IdempotencyStoreContract {

    private static final int CROWD = 64;

    private static final Duration SLACK = Duration.ofMillis(100);

    private static final Duration ROUNDING = Duration.ofMillis(5);

    private StoreFixture fixture = () -> {
        throw new IllegalStateException("No fixture before the first fact");
    };

    /** Called before each fact. */
    protected abstract StoreFixture createFixture();

    @BeforeEach
    void openFixture() {
        fixture = createFixture();
    }

    @AfterEach
    void closeFixture() {
        fixture.close();
    }

    @Nested
    class Claim {

        @Test
        void freshKeyIsClaimedWithTheFirstToken() {
            ClaimRequest request = request(freshId());

            ClaimResult answer = store().tryClaim(request);

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
        }

        @Test
        void secondClaimSeesInProgressWithTheRemainingLease() {
            RecordId id = freshId();
            long start = System.nanoTime();
            claim(request(id));

            ClaimResult answer = otherNode().tryClaim(request(id));

            assertThat(answer).isInstanceOfSatisfying(ClaimResult.InProgress.class, inProgress -> {
                assertThat(inProgress.fingerprint()).isEqualTo(FINGERPRINT);
                assertLeft(inProgress.leaseLeft(), LONG, start);
            });
        }

        @Test
        void refusedClaimChangesNothing() {
            RecordId id = freshId();
            Lease first = claim(request(id));

            store().tryClaim(request(id, Guarantee.AT_MOST_ONCE, fingerprint("other"), SHORT, SHORT));

            IdempotencyRecord record = found(id);
            assertThat(record.owner()).isEqualTo(first.owner());
            assertThat(record.fingerprint()).isEqualTo(FINGERPRINT);
            assertThat(record.guarantee()).isEqualTo(Guarantee.AT_LEAST_ONCE);
            assertThat(record.token()).isEqualTo(1);
            assertThat(record.leaseLeft()).isGreaterThan(SHORT);
        }

        // Case 9: all claims carry the same fingerprint, so nothing but the owner can tell them apart.
        @Test
        void exactlyOneOfManyConcurrentClaimsWins() {
            for (int round = 0; round < 50; round++) {
                RecordId id = freshId();

                List<ClaimResult> answers = race(node -> node.tryClaim(request(id)));

                assertThat(answers)
                        .filteredOn(ClaimResult.Claimed.class::isInstance)
                        .hasSize(1);
                assertThat(answers)
                        .filteredOn(ClaimResult.InProgress.class::isInstance)
                        .hasSize(CROWD - 1);
            }
        }

        @Test
        void operationScopeAndKeyAreAllPartOfTheIdentity() {
            String key = UUID.randomUUID().toString();

            assertIndependent(List.of(
                    RecordId.of("operation", "scope", key),
                    RecordId.of("operation-2", "scope", key),
                    RecordId.of("operation", "scope-2", key),
                    RecordId.of("operation", "scope", key + "2")));
        }

        @Test
        void keysThatDifferInCaseAccentSpaceOrUnicodeFormAreDifferentRecords() {
            String key = UUID.randomUUID().toString();

            assertIndependent(List.of(
                    RecordId.of(OPERATION, "", key + "order-a"),
                    RecordId.of(OPERATION, "", key + "ORDER-A"),
                    RecordId.of(OPERATION, "", key + "ördér-a"),
                    RecordId.of(OPERATION, "", key + "order-\u00e1"),
                    RecordId.of(OPERATION, "", key + "order-a\u0301"),
                    RecordId.of(OPERATION, "", key + "order-a "),
                    RecordId.of(OPERATION, "", " " + key + "order-a"),
                    RecordId.of(OPERATION, "", key + "order-a\u0000"),
                    RecordId.of(OPERATION, "", key + "order-\ud800"),
                    RecordId.of(OPERATION, "", key + "order-\ud801")));
        }

        @Test
        void placeWhereOnePartEndsIsPartOfTheIdentity() {
            String unique = UUID.randomUUID().toString();

            assertIndependent(List.of(
                    RecordId.of(OPERATION, "a", "b:" + unique),
                    RecordId.of(OPERATION, "a:b", unique),
                    RecordId.of(OPERATION, "", "a:b:" + unique),
                    RecordId.of(OPERATION + ":a", "b", unique)));
        }

        @Test
        void longKeysWithACommonPrefixAreDifferentRecords() {
            String prefix = UUID.randomUUID() + "k".repeat(3950);

            assertIndependent(List.of(
                    RecordId.of(OPERATION, "s".repeat(200), prefix + "a"),
                    RecordId.of(OPERATION, "s".repeat(200), prefix + "b"),
                    RecordId.of(OPERATION, "s".repeat(200), prefix)));
        }

        @Test
        void everyByteOfTheIdCounts() {
            byte[] random = new byte[RecordId.LENGTH];
            new Random().nextBytes(random);
            List<RecordId> ids = new ArrayList<>();
            // Letters in both cases, what paddings consist of, and both ends of the range, first in front and then at
            // the end.
            for (int position : new int[] {0, 15, 16, RecordId.LENGTH - 1}) {
                for (int value : new int[] {'a', 'A', 'k', 'K', ' ', '\t', 0, 0x7f, 0x80, 0xff}) {
                    byte[] bytes = random.clone();
                    bytes[position] = (byte) value;
                    ids.add(RecordId.ofBytes(bytes));
                }
            }

            assertIndependent(List.copyOf(new HashSet<>(ids)));
        }

        @Test
        void ownClaimSentTwiceIsClaimedOnce() {
            ClaimRequest request = request(freshId());
            store().tryClaim(request);

            ClaimResult again = store().tryClaim(request);

            assertThat(again).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
            assertThat(store().tryClaim(request(request.id()))).isInstanceOf(ClaimResult.InProgress.class);
        }

        @Test
        void ownClaimSentTwiceMeetsItsOwnResult() {
            ClaimRequest request = request(freshId());
            Lease lease = claim(request);
            store().complete(lease, result("first"), LONG);

            ClaimResult again = store().tryClaim(request);

            assertThat(again).isInstanceOfSatisfying(ClaimResult.Done.class, done -> {
                assertThat(done.owner()).isEqualTo(request.owner());
                assertThat(done.result()).isEqualTo(result("first"));
            });
        }

        @Test
        void fingerprintsOfEveryFormAreReported() {
            for (Fingerprint fingerprint : List.of(
                    Fingerprint.NONE,
                    new Fingerprint("a/1.b-c" + "x".repeat(25), "f".repeat(64)),
                    new Fingerprint("http-json/3", "aA-_".repeat(16)))) {
                RecordId id = freshId();
                claim(request(id, Guarantee.AT_LEAST_ONCE, fingerprint, LONG, LONG));

                ClaimResult answer = store().tryClaim(request(id));

                assertThat(answer)
                        .isInstanceOfSatisfying(
                                ClaimResult.InProgress.class,
                                inProgress ->
                                        assertThat(inProgress.fingerprint()).isEqualTo(fingerprint));
            }
        }

        @Test
        void namingAnOwnerOnAFreshKeyIsAnOrdinaryClaim() {
            ClaimRequest request = request(freshId()).takingOverFrom(freshOwner());

            ClaimResult answer = store().tryClaim(request);

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
        }
    }

    @Nested
    class Complete {

        @Test
        void duplicateGetsTheExactResult() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            long start = System.nanoTime();

            WriteOutcome outcome = store().complete(lease, result("first"), LONG);

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertThat(otherNode().tryClaim(request(id))).isInstanceOfSatisfying(ClaimResult.Done.class, done -> {
                assertThat(done.result()).isEqualTo(result("first"));
                assertThat(done.fingerprint()).isEqualTo(FINGERPRINT);
                assertThat(done.owner()).isEqualTo(lease.owner());
                assertLeft(done.retentionLeft(), LONG, start);
            });
        }

        @ParameterizedTest
        @ValueSource(ints = {0, 1, 65_535, 65_536, 70_000, 1_500_000})
        void payloadOfAnySizeSurvives(int size) {
            byte[] payload = new byte[size];
            new Random(size).nextBytes(payload);

            assertThat(replayOf(result(payload)).payload()).isEqualTo(payload);
        }

        @Test
        void everyByteValueSurvives() {
            byte[] payload = new byte[512];
            for (int i = 0; i < payload.length; i++) {
                payload[i] = (byte) i;
            }

            assertThat(replayOf(result(payload)).payload()).isEqualTo(payload);
        }

        @Test
        void everyKindFormatAndTransformerSurvives() {
            byte[] payload = "p".getBytes(StandardCharsets.UTF_8);
            String longest = "f".repeat(64);

            for (StoredResult stored : List.of(
                    StoredResult.failure("failure", payload),
                    StoredResult.notReplayable("", new byte[0]),
                    StoredResult.value(longest, payload).transformed("t".repeat(64), new byte[] {0, -1}))) {
                assertThat(replayOf(stored)).isEqualTo(stored);
            }
        }

        @Test
        void doneOutlivesTheLease() {
            RecordId id = freshId();
            store().complete(claim(request(id, SHORT, LONG)), result("first"), LONG);

            fixture.advance(PAST_SHORT);

            assertReplays(id, result("first"));
        }

        @Test
        void retentionCountsFromCompletion() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            fixture.advance(Duration.ofMillis(500));
            long start = System.nanoTime();

            store().complete(lease, result("first"), Duration.ofSeconds(30));

            assertThat(store().tryClaim(request(id)))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertLeft(done.retentionLeft(), Duration.ofSeconds(30), start));
        }

        @Test
        void retentionOfOneHundredYearsIsKept() {
            RecordId id = freshId();
            Duration retention = Duration.ofDays(36_500);
            store().complete(claim(request(id, LONG, retention)), result("first"), retention);

            assertThat(store().tryClaim(request(id)))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.retentionLeft()).isGreaterThan(Duration.ofDays(36_499)));
        }

        @Test
        void retentionShorterThanTheLeaseEndsTheRecordAllTheSame() {
            RecordId id = freshId();
            store().complete(claim(request(id)), result("first"), SHORT);

            fixture.advance(PAST_SHORT);

            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.Claimed.class);
        }

        @Test
        void secondCompletionOfTheOwnerIsAppliedAndChangesNothing() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            store().complete(lease, result("first"), LONG);

            WriteOutcome again = store().complete(lease, result("second"), SHORT);

            assertThat(again).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(id, result("first"));
            assertThat(found(id).expiresIn()).isGreaterThan(SHORT);
        }

        @Test
        void completionOfAnotherOwnerIsLost() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            WriteOutcome outcome = store().complete(strangerTo(lease), result("stranger"), LONG);

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).done()).isFalse();
            assertThat(store().complete(lease, result("right"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(id, result("right"));
        }

        @Test
        void completionOfAnotherOwnersResultIsLost() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            store().complete(lease, result("first"), LONG);

            WriteOutcome outcome = store().complete(strangerTo(lease), result("stranger"), LONG);

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertReplays(id, result("first"));
        }

        @Test
        void completionAfterTheLeaseIsAppliedAsLongAsNobodyTookOver() {
            RecordId id = freshId();
            Lease lease = claim(request(id, SHORT, LONG));
            fixture.advance(PAST_SHORT);

            WriteOutcome outcome = store().complete(lease, result("late"), LONG);

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(id, result("late"));
        }

        @Test
        void completionOfAnAbsentRecordIsLost() {
            RecordId never = freshId();
            Lease released = claim(request(freshId()));
            store().release(released);
            Lease forgotten = claim(request(freshId()));
            store().forget(forgotten.id());

            for (Lease lease : List.of(new Lease(request(never), 1), released, forgotten)) {
                assertThat(store().complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.LOST);
                assertThat(store().find(lease.id())).isEmpty();
            }
        }

        @Test
        void exactlyOneOfManyConcurrentCompletionsIsApplied() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            List<WriteOutcome> outcomes = race((node, index) ->
                    node.complete(index == 0 ? lease : strangerTo(lease), result("of " + index), LONG));

            assertThat(outcomes.get(0)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(outcomes.subList(1, CROWD)).containsOnly(WriteOutcome.LOST);
            assertReplays(id, result("of 0"));
        }
    }

    @Nested
    class Release {

        @Test
        void releasedKeyIsFreshAgain() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            WriteOutcome outcome = store().release(lease);

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store().find(id)).isEmpty();
            assertThat(claim(request(id)).token()).isEqualTo(1);
        }

        @Test
        void releaseOfAnotherOwnerChangesNothing() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            WriteOutcome outcome = store().release(strangerTo(lease));

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).owner()).isEqualTo(lease.owner());
        }

        @Test
        void releaseOfAResultChangesNothing() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            store().complete(lease, result("first"), LONG);

            WriteOutcome outcome = store().release(lease);

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertReplays(id, result("first"));
        }

        @Test
        void releaseAfterTheLeaseIsAppliedAsLongAsNobodyTookOver() {
            Lease lease = claim(request(freshId(), SHORT, LONG));
            fixture.advance(PAST_SHORT);

            WriteOutcome outcome = store().release(lease);

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store().find(lease.id())).isEmpty();
        }

        @Test
        void releaseOfAnAbsentRecordIsLost() {
            Lease lease = claim(request(freshId()));
            store().release(lease);

            assertThat(store().release(lease)).isEqualTo(WriteOutcome.LOST);
        }
    }

    @Nested
    class Takeover {

        @ParameterizedTest
        @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
        void abandonedRecordIsReportedWithOwnerFingerprintAndGuarantee(Guarantee guarantee) {
            RecordId id = freshId();
            Lease vanished = claim(request(id, guarantee, FINGERPRINT, SHORT, LONG));
            fixture.advance(PAST_SHORT);

            ClaimResult answer = otherNode().tryClaim(request(id));

            assertThat(answer).isEqualTo(new ClaimResult.Abandoned(FINGERPRINT, vanished.owner(), guarantee));
        }

        @Test
        void takeoverGetsTheNextTokenAndTheLeaseOfItsRequest() {
            RecordId id = freshId();
            Lease vanished = abandoned(id);
            ClaimRequest request = request(id, Guarantee.AT_MOST_ONCE, fingerprint("new"), LONG, LONG)
                    .takingOverFrom(vanished.owner());
            long start = System.nanoTime();

            ClaimResult answer = store().tryClaim(request);

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 2), true));
            IdempotencyRecord record = found(id);
            assertThat(record.owner()).isEqualTo(request.owner());
            assertThat(record.fingerprint()).isEqualTo(fingerprint("new"));
            assertThat(record.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
            assertThat(record.token()).isEqualTo(2);
            assertLeft(record.leaseLeft(), LONG, start);
            assertLeft(record.expiresIn(), LONG.plus(LONG), start);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        }

        @Test
        void claimThatNamesAnotherOwnerTakesOverNothing() {
            RecordId id = freshId();
            Lease vanished = abandoned(id);

            ClaimResult answer = store().tryClaim(request(id).takingOverFrom(freshOwner()));

            assertThat(answer).isInstanceOf(ClaimResult.Abandoned.class);
            assertThat(found(id).owner()).isEqualTo(vanished.owner());
            assertThat(found(id).token()).isEqualTo(1);
        }

        @Test
        void claimThatNamesTheOwnerOfALiveLeaseTakesOverNothing() {
            RecordId id = freshId();
            Lease alive = claim(request(id));

            ClaimResult answer = store().tryClaim(request(id).takingOverFrom(alive.owner()));

            assertThat(answer).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(found(id).owner()).isEqualTo(alive.owner());
        }

        @Test
        void takeoverAfterARenewalTakesOverNothing() {
            RecordId id = freshId();
            Lease slow = abandoned(id);
            ClaimRequest seen = request(id).takingOverFrom(slow.owner());
            store().renew(new Lease(withLease(slow.request(), LONG), slow.token()));

            ClaimResult answer = store().tryClaim(seen);

            assertThat(answer).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(found(id).owner()).isEqualTo(slow.owner());
        }

        @Test
        void takeoverThatMeetsAResultGetsIt() {
            RecordId id = freshId();
            Lease slow = abandoned(id);
            ClaimRequest seen = request(id).takingOverFrom(slow.owner());
            store().complete(slow, result("late, but first"), LONG);

            ClaimResult answer = store().tryClaim(seen);

            assertThat(answer)
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.result()).isEqualTo(result("late, but first")));
        }

        @Test
        void exactlyOneOfManyConcurrentTakeoversWins() {
            for (int round = 0; round < 2; round++) {
                RecordId id = freshId();
                Lease vanished = abandoned(id);

                List<ClaimResult> answers =
                        race(node -> node.tryClaim(request(id).takingOverFrom(vanished.owner())));

                assertThat(answers)
                        .filteredOn(ClaimResult.Claimed.class::isInstance)
                        .hasSize(1);
                assertThat(answers)
                        .filteredOn(ClaimResult.InProgress.class::isInstance)
                        .hasSize(CROWD - 1);
                assertThat(found(id).token()).isEqualTo(2);
            }
        }

        @Test
        void takeoverAndLateCompletionNeverBothSucceed() {
            for (int round = 0; round < 2; round++) {
                RecordId id = freshId();
                Lease slow = abandoned(id);

                List<Object> answers = race((node, index) -> index % 2 == 0
                        ? node.complete(slow, result("late"), LONG)
                        : node.tryClaim(request(id).takingOverFrom(slow.owner())));

                boolean completed = answers.contains(WriteOutcome.APPLIED);
                long takeovers = answers.stream()
                        .filter(ClaimResult.Claimed.class::isInstance)
                        .count();
                assertThat(takeovers).isEqualTo(completed ? 0 : 1);
                assertThat(found(id).done()).isEqualTo(completed);
            }
        }

        @Test
        void tokenGrowsOverTakeovers() {
            RecordId id = freshId();
            Owner seen = freshOwner();

            for (long token = 1; token <= 4; token++) {
                Lease lease = claim(request(id, SHORT, LONG).takingOverFrom(seen));
                assertThat(lease.token()).isEqualTo(token);
                seen = lease.owner();
                fixture.advance(PAST_SHORT);
            }
        }

        @Test
        void zombieCompletionIsLostAndInvisible() {
            RecordId id = freshId();
            Lease zombie = abandoned(id);
            Lease winner = claim(request(id).takingOverFrom(zombie.owner()));

            WriteOutcome late = store().complete(zombie, result("late"), LONG);

            assertThat(late).isEqualTo(WriteOutcome.LOST);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(store().complete(winner, result("right"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store().complete(zombie, result("later"), LONG)).isEqualTo(WriteOutcome.LOST);
            assertReplays(id, result("right"));
        }

        @Test
        void zombieReleaseIsLostAndFreesNothing() {
            RecordId id = freshId();
            Lease zombie = abandoned(id);
            Lease winner = claim(request(id).takingOverFrom(zombie.owner()));

            WriteOutcome late = store().release(zombie);

            assertThat(late).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).owner()).isEqualTo(winner.owner());
        }

        @Test
        void zombieRenewalIsLostAndExtendsNothing() {
            RecordId id = freshId();
            Lease zombie = abandoned(id);
            Lease winner = claim(request(id, SHORT, LONG).takingOverFrom(zombie.owner()));

            WriteOutcome late = store().renew(new Lease(withLease(zombie.request(), LONG), zombie.token()));

            assertThat(late).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).owner()).isEqualTo(winner.owner());
            assertThat(found(id).leaseLeft()).isLessThanOrEqualTo(SHORT.plus(ROUNDING));
        }

        @Test
        void leasedRecordDoesNotExpireWhileItsLeaseLives() {
            RecordId id = freshId();
            claim(request(id, LONG, Duration.ofMillis(1)));
            fixture.advance(SLACK);

            purge();

            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        }

        @Test
        void abandonedRecordStaysForItsRetentionAfterTheLease() {
            RecordId id = freshId();
            long start = System.nanoTime();
            claim(request(id, Guarantee.AT_MOST_ONCE, FINGERPRINT, SHORT, LONG));
            Duration wholeLife = found(id).expiresIn();

            fixture.advance(PAST_SHORT);
            purge();

            assertLeft(wholeLife, SHORT.plus(LONG), start);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.Abandoned.class);
        }

        @Test
        void abandonedRecordVanishesAfterLeaseAndRetention() {
            RecordId id = freshId();
            Lease vanished = claim(request(id, Guarantee.AT_MOST_ONCE, FINGERPRINT, SHORT, SHORT));

            fixture.advance(PAST_SHORT.plus(PAST_SHORT));

            assertThat(store().find(id)).isEmpty();
            assertThat(store().complete(vanished, result("late"), LONG)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().renew(vanished)).isEqualTo(WriteOutcome.LOST);
            assertThat(claim(request(id)).token()).isEqualTo(1);
        }

        @Test
        void leaseOfAFractionOfASecondIsExact() {
            Duration lease = Duration.ofMillis(400);
            Random offsets = new Random();
            List<Lease> leases = new ArrayList<>();

            for (int round = 0; round < 6; round++) {
                fixture.advance(Duration.ofMillis(offsets.nextInt(100)));
                RecordId id = freshId();
                long start = System.nanoTime();
                leases.add(claim(request(id, lease, LONG)));
                fixture.advance(Duration.ofMillis(150));
                ClaimResult early = store().tryClaim(request(id));
                if (since(start).compareTo(lease) < 0) {
                    assertThat(early).isInstanceOf(ClaimResult.InProgress.class);
                }
            }

            fixture.advance(Duration.ofMillis(750));
            assertThat(leases)
                    .allSatisfy(abandoned -> assertThat(
                                    store().tryClaim(request(abandoned.id()).takingOverFrom(abandoned.owner())))
                            .isInstanceOf(ClaimResult.Claimed.class));
        }
    }

    @Nested
    class Renew {

        @Test
        void renewalStartsTheLeaseFromNow() {
            RecordId id = freshId();
            Lease lease = claim(request(id, Duration.ofSeconds(30), LONG));
            fixture.advance(Duration.ofMillis(500));
            long start = System.nanoTime();

            WriteOutcome outcome = store().renew(lease);

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertLeft(found(id).leaseLeft(), Duration.ofSeconds(30), start);
            assertLeft(found(id).expiresIn(), LONG.plusSeconds(30), start);
        }

        @Test
        void renewedRecordOutlivesItsFirstLease() {
            RecordId id = freshId();
            Lease lease = claim(request(id, SHORT, LONG));

            store().renew(new Lease(withLease(lease.request(), LONG), lease.token()));

            fixture.advance(PAST_SHORT);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        }

        @Test
        void renewalKeepsTokenOwnerAndFingerprint() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            store().renew(lease);

            assertThat(found(id).token()).isEqualTo(1);
            assertThat(found(id).owner()).isEqualTo(lease.owner());
            assertThat(found(id).fingerprint()).isEqualTo(FINGERPRINT);
            assertThat(store().complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        }

        @Test
        void renewalAfterTheLeaseHoldsTheKeyAgainAsLongAsNobodyTookOver() {
            RecordId id = freshId();
            Lease slow = abandoned(id);

            WriteOutcome outcome = store().renew(new Lease(withLease(slow.request(), LONG), slow.token()));

            assertThat(outcome).isEqualTo(WriteOutcome.APPLIED);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        }

        @Test
        void renewalOfAnotherOwnerChangesNothing() {
            RecordId id = freshId();
            Lease lease = claim(request(id, SHORT, LONG));

            WriteOutcome outcome = store().renew(new Lease(request(id), 1));

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).owner()).isEqualTo(lease.owner());
            assertThat(found(id).leaseLeft()).isLessThanOrEqualTo(SHORT.plus(ROUNDING));
        }

        @Test
        void renewalOfAResultChangesNothing() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            long start = System.nanoTime();
            store().complete(lease, result("first"), Duration.ofSeconds(30));

            WriteOutcome outcome = store().renew(lease);

            assertThat(outcome).isEqualTo(WriteOutcome.LOST);
            assertReplays(id, result("first"));
            assertLeft(found(id).expiresIn(), Duration.ofSeconds(30), start);
        }

        @Test
        void renewalOfAReleasedKeyIsLost() {
            Lease lease = claim(request(freshId()));
            store().release(lease);

            assertThat(store().renew(lease)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().find(lease.id())).isEmpty();
        }
    }

    @Nested
    class Expiry {

        @Test
        void expiredResultCountsAsAbsentWithoutAPurge() {
            RecordId id = freshId();
            Lease first = expiredResult(id);

            assertThat(store().find(id)).isEmpty();
            assertThat(store().forget(id)).isFalse();
            assertThat(store().complete(first, result("again"), LONG)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().renew(first)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().release(first)).isEqualTo(WriteOutcome.LOST);
        }

        @Test
        void expiredKeyIsClaimedAnewWithTheFirstToken() {
            RecordId id = freshId();
            Lease first = expiredResult(id);
            ClaimRequest request = request(id, Guarantee.AT_MOST_ONCE, fingerprint("new"), LONG, LONG);

            ClaimResult answer = store().tryClaim(request);

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
            assertThat(store().complete(first, result("zombie"), LONG)).isEqualTo(WriteOutcome.LOST);
            IdempotencyRecord record = found(id);
            assertThat(record.done()).isFalse();
            assertThat(record.result()).isNull();
            assertThat(record.completedAt()).isNull();
            assertThat(record.fingerprint()).isEqualTo(fingerprint("new"));
            assertThat(record.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
        }

        @Test
        void secondLifeOfAKeyLeavesNothingOfTheFirst() {
            RecordId id = freshId();
            Lease first = claim(request(id));
            Instant created = found(id).createdAt();
            store().complete(first, result("first"), SHORT);
            fixture.advance(PAST_SHORT);

            Lease second = claim(request(id));

            assertThat(found(id).createdAt()).isAfter(created);
            assertThat(store().complete(second, result("second"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(id, result("second"));
        }

        @Test
        void exactlyOneOfManyConcurrentClaimsOfAnExpiredKeyWins() {
            RecordId id = freshId();
            expiredResult(id);

            List<ClaimResult> answers = race(node -> node.tryClaim(request(id)));

            assertThat(answers)
                    .filteredOn(ClaimResult.Claimed.class::isInstance)
                    .hasSize(1);
            assertThat(answers)
                    .filteredOn(ClaimResult.InProgress.class::isInstance)
                    .hasSize(CROWD - 1);
            assertThat(found(id).token()).isEqualTo(1);
        }
    }

    @Nested
    class RecordDone {

        @Test
        void absentKeyGoesStraightToDone() {
            ClaimRequest request = request(freshId());
            long start = System.nanoTime();

            ClaimResult answer = store().recordDone(request, result("known"));

            assertThat(answer).isEqualTo(new ClaimResult.Claimed(new Lease(request, 1), false));
            assertReplays(request.id(), result("known"));
            assertThat(found(request.id()).fingerprint()).isEqualTo(FINGERPRINT);
            assertThat(found(request.id()).owner()).isEqualTo(request.owner());
            assertLeft(found(request.id()).expiresIn(), LONG, start);
        }

        @Test
        void expiredKeyGoesStraightToDone() {
            RecordId id = freshId();
            expiredResult(id);

            ClaimResult answer = store().recordDone(request(id), result("second"));

            assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
            assertReplays(id, result("second"));
        }

        @Test
        void resultOfAnotherStays() {
            RecordId id = freshId();
            store().complete(claim(request(id)), result("first"), LONG);

            ClaimResult answer = store().recordDone(request(id), result("second"));

            assertThat(answer)
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.result()).isEqualTo(result("first")));
            assertReplays(id, result("first"));
        }

        @Test
        void liveClaimOfAnotherStays() {
            RecordId id = freshId();
            Lease lease = claim(request(id));

            ClaimResult answer = store().recordDone(request(id), result("second"));

            assertThat(answer).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(found(id).owner()).isEqualTo(lease.owner());
            assertThat(found(id).done()).isFalse();
        }

        @Test
        void abandonedRecordStaysUnlessItsOwnerIsNamed() {
            RecordId id = freshId();
            Lease vanished = abandoned(id);

            ClaimResult unnamed = store().recordDone(request(id), result("second"));
            boolean doneByThat = found(id).done();
            ClaimResult named = store().recordDone(request(id).takingOverFrom(vanished.owner()), result("third"));

            assertThat(unnamed).isInstanceOf(ClaimResult.Abandoned.class);
            assertThat(doneByThat).isFalse();
            assertThat(named).isInstanceOf(ClaimResult.Claimed.class);
            assertReplays(id, result("third"));
            assertThat(store().complete(vanished, result("zombie"), LONG)).isEqualTo(WriteOutcome.LOST);
        }

        @Test
        void ownClaimGoesToDone() {
            ClaimRequest request = request(freshId());
            claim(request);

            ClaimResult answer = store().recordDone(request, result("known"));

            assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
            assertReplays(request.id(), result("known"));
        }

        @Test
        void sentTwiceItIsStillOurs() {
            ClaimRequest request = request(freshId());
            store().recordDone(request, result("known"));

            ClaimResult again = store().recordDone(request, result("known"));

            assertThat(again)
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.owner()).isEqualTo(request.owner()));
        }

        @Test
        void exactlyOneOfManyConcurrentOnesIsRecorded() {
            RecordId id = freshId();

            List<ClaimResult> answers = race((node, index) -> node.recordDone(request(id), result("of " + index)));

            assertThat(answers)
                    .filteredOn(ClaimResult.Claimed.class::isInstance)
                    .hasSize(1);
            int winner = answers.indexOf(answers.stream()
                    .filter(ClaimResult.Claimed.class::isInstance)
                    .findFirst()
                    .orElseThrow());
            assertReplays(id, result("of " + winner));
            assertThat(answers)
                    .filteredOn(ClaimResult.Done.class::isInstance)
                    .allSatisfy(answer ->
                            assertThat(((ClaimResult.Done) answer).result()).isEqualTo(result("of " + winner)));
        }
    }

    @Nested
    class Operators {

        @Test
        void absentRecordIsNotFound() {
            assertThat(store().find(freshId())).isEmpty();
            assertThat(store().forget(freshId())).isFalse();
        }

        @Test
        void findShowsAClaim() {
            String operation = "o".repeat(190);
            RecordId id = freshId();
            ClaimRequest request = new ClaimRequest(
                    id, operation, Guarantee.AT_MOST_ONCE, freshOwner(), FINGERPRINT, LONG, LONG, null);
            long start = System.nanoTime();
            claim(request);

            IdempotencyRecord record = otherNode().find(id).orElseThrow();

            assertThat(record.id()).isEqualTo(id);
            assertThat(record.operation()).isEqualTo(operation);
            assertThat(record.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
            assertThat(record.owner()).isEqualTo(request.owner());
            assertThat(record.fingerprint()).isEqualTo(FINGERPRINT);
            assertThat(record.token()).isEqualTo(1);
            assertThat(record.done()).isFalse();
            assertThat(record.abandoned()).isFalse();
            assertThat(record.completedAt()).isNull();
            assertThat(record.result()).isNull();
            assertThat(record.unreadable()).isNull();
            assertLeft(record.leaseLeft(), LONG, start);
            assertLeft(record.expiresIn(), LONG.plus(LONG), start);
        }

        @Test
        void findShowsAnAbandonedRecord() {
            RecordId id = freshId();
            Lease vanished = abandoned(id);

            IdempotencyRecord record = found(id);

            assertThat(record.abandoned()).isTrue();
            assertThat(record.done()).isFalse();
            assertThat(record.owner()).isEqualTo(vanished.owner());
        }

        @Test
        void findShowsAResult() {
            RecordId id = freshId();
            Lease vanished = abandoned(id);
            Lease lease = claim(request(id).takingOverFrom(vanished.owner()));
            store().complete(lease, result("first"), LONG);

            IdempotencyRecord record = found(id);

            assertThat(record.done()).isTrue();
            assertThat(record.abandoned()).isFalse();
            assertThat(record.result()).isEqualTo(result("first"));
            assertThat(record.owner()).isEqualTo(lease.owner());
            assertThat(record.operation()).isEqualTo(OPERATION);
            assertThat(record.guarantee()).isEqualTo(Guarantee.AT_LEAST_ONCE);
            assertThat(record.token()).isEqualTo(2);
            assertThat(record.completedAt()).isAfterOrEqualTo(record.createdAt());
        }

        @Test
        void creationIsTheFirstClaim() {
            RecordId id = freshId();
            Lease vanished = claim(request(id, SHORT, LONG));
            var created = found(id).createdAt();
            fixture.advance(PAST_SHORT);

            claim(request(id).takingOverFrom(vanished.owner()));

            assertThat(found(id).createdAt()).isEqualTo(created);
        }

        @Test
        void forgottenKeyIsFreshInEveryState() {
            RecordId leased = claim(request(freshId())).id();
            RecordId abandoned = abandoned(freshId()).id();
            RecordId done = freshId();
            store().complete(claim(request(done)), result("first"), LONG);

            for (RecordId id : List.of(leased, abandoned, done)) {
                assertThat(store().forget(id)).isTrue();
                assertThat(store().find(id)).isEmpty();
                assertThat(claim(request(id)).token()).isEqualTo(1);
            }
        }

        @Test
        void forgottenOwnerHasLostItsLease() {
            RecordId id = freshId();
            Lease forgotten = claim(request(id));
            store().forget(id);
            Lease next = claim(request(id));

            assertThat(store().renew(forgotten)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().release(forgotten)).isEqualTo(WriteOutcome.LOST);
            assertThat(store().complete(forgotten, result("late"), LONG)).isEqualTo(WriteOutcome.LOST);
            assertThat(found(id).owner()).isEqualTo(next.owner());
        }
    }

    /** Only for a {@link PurgeableStore}. */
    @Nested
    class Purge {

        @Test
        void removesOnlyWhatHasExpired() {
            PurgeableStore purgeable = purgeable();
            RecordId done = freshId();
            store().complete(claim(request(done)), result("first"), LONG);
            RecordId leased =
                    claim(request(freshId(), LONG, Duration.ofMillis(1))).id();
            RecordId abandoned = abandoned(freshId()).id();
            RecordId expired = freshId();
            expiredResult(expired);
            RecordId renewed = renewedBeforeItsFirstExpiry();
            fixture.advance(PAST_SHORT);

            while (purgeable.purgeExpired(100) == 100) {}

            assertThat(found(done).done()).isTrue();
            assertThat(found(leased).abandoned()).isFalse();
            assertThat(found(abandoned).abandoned()).isTrue();
            assertThat(found(renewed).abandoned()).isFalse();
            assertThat(claim(request(expired)).token()).isEqualTo(1);
        }

        @Test
        void removesExpiredRecordsInEveryState() {
            PurgeableStore purgeable = purgeable();
            purgeEarlierFacts();
            claim(request(freshId(), SHORT, Duration.ofMillis(1)));
            store().complete(claim(request(freshId())), result("first"), SHORT);
            fixture.advance(PAST_SHORT);

            assertThat(purgeable.purgeExpired(100)).isGreaterThanOrEqualTo(2);
            assertThat(purgeable.purgeExpired(100)).isZero();
        }

        @Test
        void removesAtMostTheBatch() {
            PurgeableStore purgeable = purgeable();
            purgeEarlierFacts();
            for (int i = 0; i < 5; i++) {
                store().complete(claim(request(freshId())), result("first"), SHORT);
            }
            fixture.advance(PAST_SHORT);

            List<Integer> removed = new ArrayList<>();
            do {
                removed.add(purgeable.purgeExpired(2));
            } while (removed.get(removed.size() - 1) == 2);

            assertThat(removed).allMatch(count -> count <= 2);
            assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isGreaterThanOrEqualTo(5);
        }

        @Test
        void severalAtOnceRemoveEachRecordOnce() {
            PurgeableStore first = purgeable();
            PurgeableStore second = (PurgeableStore) otherNode();
            purgeEarlierFacts();
            RecordId kept = claim(request(freshId())).id();
            int expired = 60;
            for (int i = 0; i < expired; i++) {
                store().complete(claim(request(freshId())), result("first"), Duration.ofMillis(1));
            }
            fixture.advance(SLACK);

            List<Integer> removed = Race.of(4, index -> {
                int sum = 0;
                for (int i = 0; i < 20; i++) {
                    sum += (index % 2 == 0 ? first : second).purgeExpired(7);
                }
                return sum;
            });

            assertThat(removed.stream().mapToInt(Integer::intValue).sum()).isEqualTo(expired);
            assertThat(found(kept).done()).isFalse();
        }

        @Test
        void claimsBesideAPurgeAreAnsweredByTheRules() {
            PurgeableStore purgeable = purgeable();
            List<RecordId> ids = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                ids.add(freshId());
                store().complete(claim(request(ids.get(i))), result("first"), Duration.ofMillis(1));
            }
            fixture.advance(SLACK);

            List<Set<RecordId>> claimed = Race.of(4, index -> {
                Set<RecordId> won = new HashSet<>();
                for (RecordId id : ids) {
                    if (index == 0) {
                        purgeable.purgeExpired(3);
                    } else if (store().tryClaim(request(id)) instanceof ClaimResult.Claimed) {
                        won.add(id);
                    }
                }
                return won;
            });

            assertThat(claimed.stream().mapToInt(Set::size).sum()).isEqualTo(ids.size());
            assertThat(ids).allSatisfy(id -> assertThat(found(id).done()).isFalse());
        }

        // A slow machine may come too late with a renewal, and then tries with another key.
        private RecordId renewedBeforeItsFirstExpiry() {
            for (int i = 0; i < 50; i++) {
                Lease lease = claim(request(freshId(), Duration.ofMillis(1), SHORT));
                if (store().renew(new Lease(withLease(lease.request(), LONG), lease.token())) == WriteOutcome.APPLIED) {
                    return lease.id();
                }
            }
            throw new AssertionError("No renewal was applied within " + SHORT);
        }

        /** Afterwards nothing of earlier facts is left that could expire soon. */
        private void purgeEarlierFacts() {
            fixture.advance(PAST_SHORT.plus(PAST_SHORT));
            purge();
        }

        private PurgeableStore purgeable() {
            assumeTrue(store() instanceof PurgeableStore, "The store removes expired records itself");
            return (PurgeableStore) store();
        }
    }

    @Nested
    class Unreadable {

        @Test
        void unreadableResultIsRefusedAndNeverFree() {
            RecordId id = unreadable();

            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store().tryClaim(request(id).takingOverFrom(freshOwner())))
                    .isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store().recordDone(request(id), result("second"))).isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store().complete(new Lease(request(id), 1), result("second"), LONG))
                    .isEqualTo(WriteOutcome.LOST);
            assertThat(store().tryClaim(request(id))).isInstanceOf(ClaimResult.Unreadable.class);
        }

        @Test
        void unreadableResultIsFoundWithAReason() {
            RecordId id = unreadable();

            IdempotencyRecord record = found(id);

            assertThat(record.result()).isNull();
            assertThat(record.unreadable()).isNotBlank().doesNotContain("secret");
        }

        @Test
        void unreadableResultCanBeForgotten() {
            RecordId id = unreadable();

            assertThat(store().forget(id)).isTrue();
            assertThat(claim(request(id)).token()).isEqualTo(1);
        }

        private RecordId unreadable() {
            RecordId id = freshId();
            store().complete(claim(request(id)), result("secret"), LONG);
            assumeTrue(fixture.breakResult(id), "The fixture cannot damage a stored result");
            return id;
        }
    }

    @Nested
    class Outage {

        @Test
        void everythingIsUnavailableAndNothingIsInferred() {
            RecordId id = freshId();
            Lease lease = claim(request(id));
            assumeTrue(fixture.cut(), "The fixture cannot cut the store off from its server");

            try {
                assertUnavailable(() -> store().tryClaim(request(id)));
                assertUnavailable(() -> store().tryClaim(request(freshId())));
                assertUnavailable(() -> store().complete(lease, result("first"), LONG));
                assertUnavailable(() -> store().recordDone(request(freshId()), result("first")));
                assertUnavailable(() -> store().renew(lease));
                assertUnavailable(() -> store().release(lease));
                assertUnavailable(() -> store().find(id));
                assertUnavailable(() -> store().forget(id));
            } finally {
                fixture.restore();
            }

            assertThat(found(id).owner()).isEqualTo(lease.owner());
            assertThat(store().complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(id, result("first"));
        }

        private void assertUnavailable(Runnable call) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run);
        }
    }

    @Test
    void nameIsShortAndSaysSomething() {
        assertThat(store().name()).isNotBlank().hasSizeLessThan(64);
    }

    private IdempotencyStore store() {
        return fixture.store();
    }

    private IdempotencyStore otherNode() {
        return fixture.otherNode();
    }

    private Lease claim(ClaimRequest request) {
        ClaimResult answer = store().tryClaim(request);
        assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
        return ((ClaimResult.Claimed) answer).lease();
    }

    /** A record whose owner's lease is over. */
    private Lease abandoned(RecordId id) {
        Lease lease = claim(request(id, SHORT, LONG));
        fixture.advance(PAST_SHORT);
        return lease;
    }

    /** A record that was done once. */
    private Lease expiredResult(RecordId id) {
        Lease lease = claim(request(id));
        store().complete(lease, result("expired"), SHORT);
        fixture.advance(PAST_SHORT);
        return lease;
    }

    private void purge() {
        if (store() instanceof PurgeableStore purgeable) {
            while (purgeable.purgeExpired(1000) > 0) {}
        }
    }

    private IdempotencyRecord found(RecordId id) {
        return store().find(id).orElseThrow(() -> new AssertionError("No record where one must be"));
    }

    private StoredResult replayOf(StoredResult stored) {
        RecordId id = freshId();
        assertThat(store().complete(claim(request(id)), stored, LONG)).isEqualTo(WriteOutcome.APPLIED);
        ClaimResult answer = otherNode().tryClaim(request(id));
        assertThat(answer).isInstanceOf(ClaimResult.Done.class);
        return ((ClaimResult.Done) answer).result();
    }

    private void assertReplays(RecordId id, StoredResult expected) {
        assertThat(store().tryClaim(request(id)))
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        done -> assertThat(done.result()).isEqualTo(expected));
    }

    /** Each id can be claimed and replays its own result. */
    private void assertIndependent(List<RecordId> ids) {
        List<Lease> leases = ids.stream().map(id -> claim(request(id))).toList();
        for (int i = 0; i < ids.size(); i++) {
            assertThat(store().complete(leases.get(i), result("of " + i), LONG)).isEqualTo(WriteOutcome.APPLIED);
        }
        for (int i = 0; i < ids.size(); i++) {
            assertReplays(ids.get(i), result("of " + i));
        }
    }

    /** A duration that started at its whole length somewhen after the given moment. */
    private static void assertLeft(@Nullable Duration left, Duration whole, long startNanos) {
        assertThat(left).isBetween(whole.minus(since(startNanos)).minus(SLACK), whole.plus(ROUNDING));
    }

    private static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private static Lease strangerTo(Lease lease) {
        return new Lease(request(lease.id()), lease.token());
    }

    private static ClaimRequest withLease(ClaimRequest request, Duration lease) {
        return new ClaimRequest(
                request.id(),
                request.operation(),
                request.guarantee(),
                request.owner(),
                request.fingerprint(),
                lease,
                request.retention(),
                request.takeOverFrom());
    }

    private List<ClaimResult> race(Function<IdempotencyStore, ClaimResult> runner) {
        return race((node, index) -> runner.apply(node));
    }

    private <R> List<R> race(BiFunction<IdempotencyStore, Integer, R> runner) {
        return Race.of(
                CROWD, index -> Race.answerOf(() -> runner.apply(index % 2 == 0 ? store() : otherNode(), index)));
    }
}
