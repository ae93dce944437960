package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** While a deployment rolls, nodes of two versions share the table. */
class RollingDeployTests {

    private static final Duration LONG = Requests.LONG;
    private static final long NEVER = Long.MAX_VALUE / 2;
    private static final Owner THEIRS = new Owner(new UUID(1, 2));
    private static final Fingerprint FINGERPRINT = Fingerprint.sha256("raw/1", bytes("a"), bytes("bc"));

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void recordsOfTheLastVersionAreAnsweredAsEver(String product) throws IOException {
        try (TestDatabase database = databaseWithRecords(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();

            assertThat(store.tryClaim(request("done", null))).isInstanceOfSatisfying(ClaimResult.Done.class, done -> {
                assertThat(done.result()).isEqualTo(StoredResult.value("text/1", bytes("paid")));
                assertThat(done.fingerprint()).isEqualTo(FINGERPRINT);
                assertThat(done.owner()).isEqualTo(THEIRS);
            });
            assertThat(store.beforeTransaction(request("done-leased", null), false)
                            .orElseGet(() -> store.tryClaim(request("done-leased", null))))
                    .isInstanceOf(ClaimResult.Done.class);
            assertThat(store.tryClaim(request("failed", null)))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.result().kind()).isEqualTo(StoredResult.Kind.FAILURE));
            assertThat(store.tryClaim(request("running", null)))
                    .isInstanceOfSatisfying(
                            ClaimResult.InProgress.class,
                            running -> assertThat(running.leaseLeft()).isPositive());
            assertThat(store.tryClaim(request("abandoned-m", null)))
                    .isEqualTo(new ClaimResult.Abandoned(FINGERPRINT, THEIRS, Guarantee.AT_MOST_ONCE));
            assertThat(store.tryClaim(request("abandoned-l", THEIRS)))
                    .isInstanceOfSatisfying(ClaimResult.Claimed.class, claimed -> {
                        assertThat(claimed.takeover()).isTrue();
                        assertThat(claimed.lease().token()).isEqualTo(3);
                    });
            assertThat(store.recordDone(request("placeholder", null), result("refused")))
                    .isInstanceOf(ClaimResult.Claimed.class);
        }
    }

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void recordOfALaterVersionIsNeitherReadNorFreeNorPurged(String product) throws IOException {
        try (TestDatabase database = databaseWithRecords(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            ClaimRequest request = request("later", THEIRS);
            database.execute("update idempotency_record set expires_at = 1 where record_version = 2");

            assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store.recordDone(request, result("mine"))).isInstanceOf(ClaimResult.Unreadable.class);
            store.purgeExpired(100);

            database.execute("update idempotency_record set state = 'P', result = null, lease_until = " + NEVER
                    + ", expires_at = " + NEVER + " where record_version = 2");
            Lease lease = new Lease(
                    new ClaimRequest(
                            request.id(), "pay", Guarantee.AT_LEAST_ONCE, THEIRS, FINGERPRINT, LONG, LONG, null),
                    1);
            assertThat(store.complete(lease, result("mine"), LONG)).isEqualTo(WriteOutcome.LOST);
            assertThat(store.renew(lease)).isEqualTo(WriteOutcome.LOST);
            assertThat(store.release(lease)).isEqualTo(WriteOutcome.LOST);

            database.execute("update idempotency_record set lease_until = null where record_version = 2");
            JdbcIdempotencyStore separate = JdbcIdempotencyStore.builder(database.pool())
                    .claimMode(ClaimMode.SEPARATE)
                    .build();
            assertThat(claimAndComplete(database, store, lease)).isEqualTo(WriteOutcome.LOST);
            assertThat(claimAndComplete(database, separate, lease)).isEqualTo(WriteOutcome.LOST);
            separate.afterRollback(lease);
            database.execute("update idempotency_record set expires_at = 1 where record_version = 2");
            store.purgeExpired(100);

            assertThat(database.number("select count(*) from idempotency_record where record_version = 2"))
                    .isEqualTo(1);
        }
    }

    private static @Nullable WriteOutcome claimAndComplete(
            TestDatabase database, JdbcIdempotencyStore store, Lease lease) {
        return new TransactionTemplate(new JdbcTransactionManager(database.pool())).execute(status -> {
            assertThat(store.claimInTransaction(lease.request(), false)).isInstanceOf(ClaimResult.Unreadable.class);
            return store.completeInTransaction(lease, result("mine"), LONG);
        });
    }

    private static ClaimRequest request(String key, @Nullable Owner takeOverFrom) {
        return new ClaimRequest(
                RecordId.of("pay", "alice", key),
                "pay",
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.randomUUID()),
                FINGERPRINT,
                LONG,
                LONG,
                takeOverFrom);
    }

    private static TestDatabase databaseWithRecords(String product) throws IOException {
        TestDatabase database = TestDatabase.of(product);
        try (InputStream in = RollingDeployTests.class.getResourceAsStream("records-1.sql")) {
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("insert"))
                    .map(line -> inTheWordsOf(database, line))
                    .forEach(database::execute);
        }
        return database;
    }

    private static String inTheWordsOf(TestDatabase database, String sql) {
        if (database.isPostgreSql()) {
            return sql.replaceAll("X'([0-9a-f]+)'", "'\\\\x$1'");
        }
        return database.isH2()
                ? sql
                : sql.replaceAll("'(\\w{8})-(\\w{4})-(\\w{4})-(\\w{4})-(\\w{12})'", "X'$1$2$3$4$5'");
    }
}
