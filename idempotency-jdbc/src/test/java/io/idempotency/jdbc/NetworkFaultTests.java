package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.fail;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.it.servers.TcpProxy.Fate;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.transaction.TransactionDefinition;

/** The network fails in front of a database that does not. */
class NetworkFaultTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    /** The text of a message: that of the claim, of the completion and so on. */
    private enum Point {
        PLACEHOLDER,
        CLAIM,
        COMPLETION,
        COMMIT;

        String text(TestDatabase database) {
            boolean postgreSql = database.isPostgreSql();
            return switch (this) {
                case PLACEHOLDER -> postgreSql ? "on conflict (id) do nothing" : "insert into idempotency_record";
                case CLAIM -> postgreSql ? "pg_try_advisory_xact_lock" : "idempotency_record where id = ";
                case COMPLETION -> postgreSql ? "on conflict (id) do update" : "set state = 'd'";
                case COMMIT -> "commit";
            };
        }
    }

    static List<Arguments> faults() {
        return servers()
                .flatMap(product -> Stream.of(ClaimMode.JOINED, ClaimMode.SEPARATE)
                        .flatMap(mode -> Stream.of(Point.values())
                                .filter(point -> point != Point.PLACEHOLDER || mode == ClaimMode.SEPARATE)
                                .flatMap(point -> Stream.of(Fate.values())
                                        .map(fate -> Arguments.of(product, mode, point, fate)))))
                .toList();
    }

    static Stream<String> servers() {
        return TestDatabase.products().stream().filter(List.of("PostgreSQL", "MariaDB", "MySQL")::contains);
    }

    @ParameterizedTest
    @MethodSource("faults")
    void callHasOneEffectAndNoFalseSuccess(String product, ClaimMode mode, Point point, Fate fate) throws IOException {
        try (TestDatabase database = TestDatabase.of(product);
                TcpProxy proxy = database.proxy();
                HikariDataSource pool = pool(database, proxy);
                Bench bench = new Bench(pool, mode, TransactionDefinition.ISOLATION_DEFAULT, TIMEOUT)) {
            bench.pay(UUID.randomUUID().toString(), "warm");
            String key = UUID.randomUUID().toString();

            proxy.expect(point.text(database), fate);
            String first = unlessFailed(() -> bench.pay(key, "first"));

            assertThat(proxy.happened()).isTrue();
            if (fate == Fate.DELAYED) {
                assertThat(first).isEqualTo("first");
            }
            assertThat(first == null || first.equals("first")).isTrue();
            String second = patiently(() -> bench.pay(key, "second"));
            if (first != null) {
                assertThat(second).isEqualTo(first);
            }
            assertThat(bench.pay(key, "third")).isEqualTo(second);
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    void leasedCallFindsOutWhatBecameOfItsStatements(String product) throws IOException {
        try (TestDatabase database = TestDatabase.of(product);
                TcpProxy proxy = database.proxy();
                HikariDataSource pool = pool(database, proxy)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(pool).queryTimeout(TIMEOUT).build();
            boolean postgreSql = database.isPostgreSql();
            String insert = Point.PLACEHOLDER.text(database);
            String complete = "set state = 'd'";
            String release =
                    postgreSql ? "delete from idempotency_record as r using own" : "delete from idempotency_record";
            for (Fate fate : Fate.values()) {
                ClaimRequest request = leased(freshId());
                proxy.expect(insert, fate);
                unavailableUnless(fate == Fate.DELAYED, () -> store.tryClaim(request));
                Lease lease = leaseOf(patiently(() -> {
                    ClaimResult answer = store.tryClaim(request);
                    return answer instanceof ClaimResult.Claimed ? answer : null;
                }));
                assertThat(store.tryClaim(leased(request.id()))).isInstanceOf(ClaimResult.InProgress.class);

                proxy.expect(complete, fate);
                unavailableUnless(fate == Fate.DELAYED, () -> store.complete(lease, result("first"), LONG));
                assertThat(patiently(() -> store.complete(lease, result("first"), LONG)))
                        .isEqualTo(WriteOutcome.APPLIED);
                assertThat(store.tryClaim(leased(request.id())))
                        .isInstanceOfSatisfying(
                                ClaimResult.Done.class,
                                done -> assertThat(done.result()).isEqualTo(result("first")));

                RecordId other = freshId();
                Lease released = leaseOf(store.tryClaim(leased(other)));
                proxy.expect(release, fate);
                unavailableUnless(fate == Fate.DELAYED, () -> store.release(released));
                patiently(() -> store.release(released));
                assertThat(store.find(other)).isEmpty();
                assertThat(proxy.happened()).isTrue();
            }
        }
    }

    private static void unavailableUnless(boolean available, Supplier<?> call) {
        if (available) {
            assertThat(call.get()).isNotNull();
        } else {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::get);
        }
    }

    // The store has limits of its own; the driver's is for what else is said on the connection, the commit above all.
    private static HikariDataSource pool(TestDatabase database, TcpProxy proxy) {
        String limits = database.isPostgreSql()
                ? "&socketTimeout=3&cancelSignalTimeout=1&prepareThreshold=0"
                : "&socketTimeout=3000";
        return database.pool(config -> {
            config.setJdbcUrl(database.urlThrough(proxy) + limits);
            config.setMaximumPoolSize(4);
            config.setConnectionTimeout(5_000);
        });
    }

    private static @Nullable String unlessFailed(Supplier<String> call) {
        try {
            return call.get();
        } catch (RuntimeException e) {
            return null;
        }
    }

    /** The key is free as soon as the server has noticed that a connection is gone; the pool does not know of dead ones at once. */
    private static <R> R patiently(Supplier<@Nullable R> call) {
        long start = System.nanoTime();
        RuntimeException last = null;
        while (System.nanoTime() - start < Duration.ofSeconds(40).toNanos()) {
            try {
                R answer = call.get();
                if (answer != null) {
                    return answer;
                }
            } catch (StoreUnavailableException | OperationInProgressException e) {
                last = e;
            }
            Pause.of(Duration.ofMillis(20));
        }
        return fail("No answer in 40 s", last);
    }
}
