package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The numbered migrations, applied to a database in use. A node without an archive is what every node was before version 2: it knows
 * nothing of that table.
 */
class MigrationTests {

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#productsAndModes")
    void versionTwoComesWhileCallsAreInProgress(String product, ClaimMode mode) throws IOException {
        try (TestDatabase database = TestDatabase.of(product)) {
            database.execute("drop table idempotency_record");
            JdbcIdempotencyStore before = JdbcIdempotencyStore.builder(database.pool())
                    .claimMode(mode)
                    .build();
            migrate(database, before.schema().migrationLocation());
            before.schema().verify();
            RecordId done = freshId();
            before.recordDone(leased(done), result("done"));
            RecordId processing = freshId();
            Lease lease = leaseOf(before.tryClaim(leased(processing)));
            database.addExpired(4);

            JdbcIdempotencyStore after = JdbcIdempotencyStore.builder(database.pool())
                    .claimMode(mode)
                    .archiveTableName("idempotency_archive")
                    .build();
            ClaimRequest business = exactlyOnce(freshId());
            before.beforeTransaction(business, false);
            new TransactionTemplate(new JdbcTransactionManager(database.pool())).executeWithoutResult(status -> {
                Lease held = leaseOf(before.claimInTransaction(business, false));
                Bench.race(1, index -> {
                    migrate(database, after.schema().archiveMigrationLocation());
                    after.schema().verify();
                    before.schema().verify();
                    assertThat(after.tryClaim(leased(business.id()))).isNotInstanceOf(ClaimResult.Claimed.class);
                    return true;
                });
                assertThat(before.completeInTransaction(held, result("committed"), LONG))
                        .isEqualTo(WriteOutcome.APPLIED);
            });

            assertReplays(after, business.id(), "committed");
            assertReplays(after, done, "done");
            assertThat(after.tryClaim(leased(processing))).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(after.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(before.complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(after, processing, "late");
            RecordId ofTheNew = freshId();
            after.recordDone(leased(ofTheNew), result("new"));
            assertReplays(before, ofTheNew, "new");
            assertThat(before.purgeExpired(1)).isEqualTo(1);
            assertThat(after.purgeExpired(10)).isEqualTo(3);
            assertThat(database.number("select count(*) from idempotency_archive"))
                    .isEqualTo(3);
        }
    }

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void migrationsMakeTheSameTablesAsTheScripts(String product) throws IOException {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcSchema schema =
                    JdbcIdempotencyStore.builder(database.pool()).build().schema();

            assertThat(text(schema.migrationLocation()))
                    .isEqualTo(text(schema.location()).replace(" if not exists", ""));
            assertThat(text(schema.archiveMigrationLocation()))
                    .isEqualTo(text(schema.archiveLocation()).replace(" if not exists", ""));
        }
    }

    private static void assertReplays(JdbcIdempotencyStore store, RecordId id, String text) {
        assertThat(store.tryClaim(leased(id)))
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        answer -> assertThat(answer.result()).isEqualTo(result(text)));
    }

    private static void migrate(TestDatabase database, String location) throws IOException {
        for (String statement : text(location).split(";", -1)) {
            if (!statement.isBlank()) {
                database.execute(statement);
            }
        }
    }

    private static String text(String location) throws IOException {
        try (InputStream in = JdbcSchema.class.getClassLoader().getResourceAsStream(location)) {
            assertThat(in).as(location).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
