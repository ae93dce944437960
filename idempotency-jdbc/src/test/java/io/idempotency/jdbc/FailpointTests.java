package io.idempotency.jdbc;

import static io.idempotency.jdbc.TestDatabase.products;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.engine.Work;
import io.idempotency.jdbc.CrashMatrix.Outcome;
import io.idempotency.jdbc.CutPoints.Step;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.StoredResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.MDC;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * Breaks the connection, or ends everything, at each JDBC call of a first call: before the call, and after it with its reply lost. What
 * its caller and a retry get is what the crash matrix says.
 */
class FailpointTests {

    // Nobody waits for it: where it has to be over, it is moved into the past.
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final Path MANUAL = Path.of("..", "docs", "guarantees.md");

    static Stream<Arguments> calls() {
        return products().stream()
                .flatMap(product -> Stream.of(
                        Arguments.of(product, Guarantee.EXACTLY_ONCE, ClaimMode.JOINED, false),
                        Arguments.of(product, Guarantee.EXACTLY_ONCE, ClaimMode.JOINED, true),
                        Arguments.of(product, Guarantee.EXACTLY_ONCE, ClaimMode.SEPARATE, false),
                        Arguments.of(product, Guarantee.EXACTLY_ONCE, ClaimMode.SEPARATE, true),
                        Arguments.of(product, Guarantee.AT_LEAST_ONCE, ClaimMode.AUTO, false),
                        Arguments.of(product, Guarantee.AT_MOST_ONCE, ClaimMode.AUTO, false)));
    }

    @BeforeEach
    void beQuiet() {
        MDC.put("quiet", "yes");
    }

    @AfterEach
    void beLoud() {
        MDC.remove("quiet");
    }

    @Test
    void crashMatrixStandsInTheManual() throws IOException {
        Path manual = Files.exists(MANUAL) ? MANUAL : Path.of("..").resolve(MANUAL);

        for (String table : CrashMatrix.TEXT.split("\n\n")) {
            assertThat(Files.readString(manual)).contains(table.strip());
        }
    }

    @ParameterizedTest
    @MethodSource("calls")
    void retryAfterADeathFindsWhatTheCrashMatrixSays(
            String product, Guarantee guarantee, ClaimMode mode, boolean known) {
        try (TestDatabase database = TestDatabase.of(product)) {
            List<Step> steps = stepsOfAFirstCall(database, guarantee, mode, known);
            List<Outcome> found = new ArrayList<>();
            for (int n = 1; n <= steps.size(); n++) {
                for (boolean replyLost : List.of(false, true)) {
                    CutPoints cut = new CutPoints(database.pool(), guarantee, n, replyLost, true);
                    Outcome outcome = new Attempt(database, cut, guarantee, mode, known).outcome();
                    Outcome ofRetry = new Outcome("", outcome.retry(), outcome.effects());
                    if (found.isEmpty() || !found.get(found.size() - 1).equals(ofRetry)) {
                        found.add(ofRetry);
                    }
                }
            }

            assertThat(found).as("the later it dies in %s", steps).isEqualTo(CrashMatrix.afterDeath(guarantee));
        }
    }

    @ParameterizedTest
    @MethodSource("calls")
    void brokenConnectionComesToWhatTheCrashMatrixSays(
            String product, Guarantee guarantee, ClaimMode mode, boolean known) {
        try (TestDatabase database = TestDatabase.of(product)) {
            List<Step> steps = stepsOfAFirstCall(database, guarantee, mode, known);
            for (int n = 1; n <= steps.size(); n++) {
                for (boolean replyLost : List.of(false, true)) {
                    CutPoints cut = new CutPoints(database.pool(), guarantee, n, replyLost, false);

                    Outcome outcome = new Attempt(database, cut, guarantee, mode, known).outcome();

                    assertThat(CrashMatrix.afterCut(guarantee, steps.get(n - 1), replyLost))
                            .as("call %s of %s, reply lost: %s", n, steps, replyLost)
                            .contains(outcome);
                }
            }
        }
    }

    private static List<Step> stepsOfAFirstCall(
            TestDatabase database, Guarantee guarantee, ClaimMode mode, boolean known) {
        CutPoints counting = CutPoints.none(database.pool(), guarantee);
        Attempt undisturbed = new Attempt(database, counting, guarantee, mode, known);
        assertThat(undisturbed.outcome()).isEqualTo(new Outcome("its result", "gets the result", 1));
        assertThat(counting.said()).contains(Step.CLAIM, Step.WORK);
        assertThat(counting.said().contains(Step.RECORD)).isEqualTo(!known);
        return counting.said();
    }

    /** A first call on a data source, and its retries on another. */
    private record Attempt(
            TestDatabase database, CutPoints cut, Guarantee guarantee, ClaimMode mode, boolean known, String key) {

        Attempt(TestDatabase database, CutPoints cut, Guarantee guarantee, ClaimMode mode, boolean known) {
            this(database, cut, guarantee, mode, known, UUID.randomUUID().toString());
        }

        Outcome outcome() {
            try (IdempotencyEngine engine = engine(cut);
                    IdempotencyEngine other = engine(database.pool())) {
                String caller = pay(engine, cut);
                String retry = patiently(other);
                if (retry.equals("in progress")) {
                    endLeases();
                    retry = "is in progress until the lease is over, then " + retried(pay(other, database.pool()));
                } else {
                    retry = retried(retry);
                }
                return new Outcome(caller, retry, database.businessRows(key));
            }
        }

        // A session that has just died, and the release of a claim whose reply was lost, take a moment.
        private String patiently(IdempotencyEngine other) {
            String answer = pay(other, database.pool());
            for (int i = 0; i < 100 && answer.equals("in progress") && mayBecomeFree(); i++) {
                Pause.of(Duration.ofMillis(20));
                answer = pay(other, database.pool());
            }
            return answer;
        }

        private boolean mayBecomeFree() {
            return guarantee == Guarantee.EXACTLY_ONCE
                    || !cut.isDead() && !cut.said().contains(Step.WORK);
        }

        private static String retried(String answer) {
            return switch (answer) {
                case "its result" -> "runs";
                case "the result" -> "gets the result";
                default -> answer;
            };
        }

        private void endLeases() {
            database.execute("update idempotency_record set lease_until = lease_until - "
                    + LEASE.multipliedBy(2).toMillis());
        }

        private IdempotencyEngine engine(DataSource dataSource) {
            return IdempotencyEngine.on(JdbcIdempotencyStore.builder(dataSource)
                            .claimMode(mode)
                            .queryTimeout(Duration.ofSeconds(5))
                            .build())
                    .build();
        }

        private String pay(IdempotencyEngine engine, DataSource dataSource) {
            OperationSettings settings = OperationSettings.of(Requests.OPERATION, guarantee)
                    .lease(LEASE)
                    .transactions(new SpringBusinessTransactions(
                            new JdbcTransactionManager(dataSource),
                            new DefaultTransactionAttribute(),
                            (JdbcIdempotencyStore) engine.store()))
                    .build();
            try {
                Completion completion = engine.execute(
                        new Call(settings, "", key, Fingerprint.NONE), new Payment(dataSource, key, known));
                return completion instanceof Completion.Replayed ? "the result" : "its result";
            } catch (OperationInProgressException e) {
                return "in progress";
            } catch (OutcomeUnknownException e) {
                return "outcome unknown";
            } catch (StoreUnavailableException e) {
                return "store unavailable";
            } catch (Throwable e) {
                return "the exception";
            }
        }
    }

    /** Pays. That it says "paid" in the end may be known before. */
    private record Payment(DataSource dataSource, String key, boolean known) implements Work {

        @Override
        public Finish run(io.idempotency.engine.Attempt attempt) {
            new JdbcTemplate(dataSource).update("insert into business (text) values (?)", key);
            return new Finish.Store(Requests.result("paid"), false);
        }

        @Override
        public @Nullable StoredResult resultInAdvance() {
            return known ? Requests.result("paid") : null;
        }
    }
}
