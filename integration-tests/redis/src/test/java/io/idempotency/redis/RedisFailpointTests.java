package io.idempotency.redis;

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
import io.idempotency.redis.CutCommands.Step;
import io.idempotency.spi.Fingerprint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Cuts one command off, or ends everything, at each command of a first call: before it, and after it with its reply lost. What its caller
 * and a retry get is what the crash matrix of the manual says.
 */
class RedisFailpointTests {

    // Nobody waits for it: where it has to be over, it is taken from what the key has left.
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final Duration RETENTION = Duration.ofHours(24);
    private static final List<List<String>> MATRIX = matrix();

    private static RedisServer server;
    private static LettuceConnectionFactory lettuce;

    private static List<List<String>> matrix() {
        try (Stream<String> lines = Files.lines(Path.of("..", "..", "docs", "guarantees.md"))) {
            return lines.filter(line -> line.matches("\\| `A.*\\| \\d \\|"))
                    .map(line -> Arrays.stream(line.substring(1).split("\\|"))
                            .map(String::strip)
                            .toList())
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        lettuce = Factories.lettuce(server.port(), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        server.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"AT_LEAST_ONCE", "AT_MOST_ONCE"})
    void retryAfterADeathFindsWhatTheCrashMatrixSays(Guarantee guarantee) {
        List<Step> steps = stepsOfAFirstCall(guarantee);
        List<List<String>> found = new ArrayList<>();
        for (int n = 1; n <= steps.size(); n++) {
            for (boolean replyLost : List.of(false, true)) {
                List<String> outcome = new Attempt(guarantee, new CutCommands(n, replyLost, true)).outcome();
                List<String> ofRetry = outcome.subList(1, 3);
                if (found.isEmpty() || !found.get(found.size() - 1).equals(ofRetry)) {
                    found.add(ofRetry);
                }
            }
        }

        assertThat(found)
                .as("the later it dies in %s", steps)
                .isEqualTo(rows(guarantee, 4).map(row -> row.subList(2, 4)).toList());
    }

    @ParameterizedTest
    @EnumSource(names = {"AT_LEAST_ONCE", "AT_MOST_ONCE"})
    void lostCommandComesToWhatTheCrashMatrixSays(Guarantee guarantee) {
        List<Step> steps = stepsOfAFirstCall(guarantee);
        for (int n = 1; n <= steps.size(); n++) {
            for (boolean replyLost : List.of(false, true)) {
                String where =
                        switch (steps.get(n - 1)) {
                            case CLAIM -> "in the claim";
                            case WORK -> "in the work, " + (replyLost ? "after" : "before") + " the effect";
                            case RECORD -> "while the result is stored";
                        };

                List<String> outcome = new Attempt(guarantee, new CutCommands(n, replyLost, false)).outcome();

                assertThat(rows(guarantee, 5)
                                .filter(row -> row.get(1).equals(where))
                                .map(row -> row.subList(2, 5)))
                        .as("%s, reply lost: %s", where, replyLost)
                        .containsExactly(outcome);
            }
        }
    }

    private static Stream<List<String>> rows(Guarantee guarantee, int cells) {
        return MATRIX.stream().filter(row -> row.size() == cells && row.get(0).equals("`" + guarantee + "`"));
    }

    private static List<Step> stepsOfAFirstCall(Guarantee guarantee) {
        new Attempt(guarantee, CutCommands.none()).outcome();
        CutCommands counting = CutCommands.none();
        assertThat(new Attempt(guarantee, counting).outcome()).containsExactly("its result", "gets the result", "1");
        assertThat(counting.done()).containsExactly(Step.CLAIM, Step.WORK, Step.RECORD);
        return counting.done();
    }

    /** A first call through a cut, and its retries without. */
    private static final class Attempt {

        private final CutCommands cut;
        private final AtomicInteger effects = new AtomicInteger();
        private final Call call;

        Attempt(Guarantee guarantee, CutCommands cut) {
            this.cut = cut;
            OperationSettings settings = OperationSettings.of("pay", guarantee)
                    .lease(LEASE)
                    .retention(RETENTION)
                    .build();
            this.call = new Call(settings, "", UUID.randomUUID().toString(), Fingerprint.NONE);
        }

        List<String> outcome() {
            try (IdempotencyEngine first = engine(cut.in(lettuce));
                    IdempotencyEngine other = engine(lettuce)) {
                String caller = pay(first, cut);
                String retry = patiently(other);
                if (retry.equals("in progress")) {
                    endTheLease();
                    retry = "is in progress until the lease is over, then " + retried(pay(other, CutCommands.none()));
                } else {
                    retry = retried(retry);
                }
                return List.of(caller, retry, effects.toString());
            }
        }

        private static IdempotencyEngine engine(RedisConnectionFactory factory) {
            return IdempotencyEngine.on(RedisIdempotencyStore.builder(factory).build())
                    .build();
        }

        // The release of a claim whose reply was lost takes a moment.
        private String patiently(IdempotencyEngine other) {
            String answer = pay(other, CutCommands.none());
            for (int i = 0; i < 100 && answer.equals("in progress") && mayBecomeFree(); i++) {
                Claims.waitFor(Duration.ofMillis(20));
                answer = pay(other, CutCommands.none());
            }
            return answer;
        }

        private boolean mayBecomeFree() {
            return !cut.isDead() && !cut.done().contains(Step.WORK);
        }

        private void endTheLease() {
            server.does(redis -> redis.pexpire(
                    Claims.key(call.id()), RETENTION.minusSeconds(1).toMillis()));
        }

        private static String retried(String answer) {
            return switch (answer) {
                case "its result" -> "runs";
                case "the result" -> "gets the result";
                default -> answer;
            };
        }

        private String pay(IdempotencyEngine engine, CutCommands through) {
            try {
                Completion completion = engine.execute(call, attempt -> {
                    through.work(effects::incrementAndGet);
                    return new Finish.Store(Claims.result("paid"), false);
                });
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
}
