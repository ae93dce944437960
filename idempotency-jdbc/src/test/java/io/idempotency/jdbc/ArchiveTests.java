package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessException;

/** Expired records are moved and not removed. */
class ArchiveTests {

    private static final String PRODUCTS = "io.idempotency.jdbc.TestDatabase#products";

    private static final String ARCHIVE = "idempotency_archive";

    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void expiredRecordIsInTheArchiveAndItsKeyIsFree(String product) throws SQLException {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store = archiving(database);
            store.schema().createIfMissing();
            store.schema().verify();
            RecordId kept = freshId();
            store.recordDone(leased(kept), result("kept"));
            RecordId locked = freshId();
            store.tryClaim(leased(locked));
            RecordId expired = freshId();
            for (int i = 1; i <= 2; i++) {
                store.complete(leaseOf(store.tryClaim(leased(expired))), result("result " + i), Duration.ofMillis(1));

                assertThat(purgedAtLast(store)).isEqualTo(1);
            }

            assertThat(store.find(expired)).isEmpty();
            assertThat(store.find(kept)).isPresent();
            assertThat(store.find(locked)).isPresent();
            assertThat(database.number("select count(*) from " + ARCHIVE)).isEqualTo(2);
            try (Connection connection = database.connect();
                    Statement statement = connection.createStatement();
                    ResultSet rows =
                            statement.executeQuery("select id, operation, state, expires_at, result, archived_on,"
                                    + " archived_at, completed_at from idempotency_archive order by archived_at")) {
                for (int i = 1; i <= 2; i++) {
                    rows.next();
                    assertThat(rows.getBytes(1)).isEqualTo(expired.bytes());
                    assertThat(rows.getString(2)).isEqualTo(Requests.OPERATION);
                    assertThat(rows.getString(3)).isEqualTo("D");
                    assertThat(rows.getLong(4)).isBetween(rows.getLong(8) + 1, rows.getLong(7));
                    assertThat(rows.getBytes(5)).isEqualTo(result("result " + i).toBytes());
                    assertThat(rows.getObject(6, LocalDate.class))
                            .isBetween(
                                    LocalDate.now(ZoneOffset.UTC).minusDays(1),
                                    LocalDate.now(ZoneOffset.UTC).plusDays(1));
                }
            }
            assertThat(store.tryClaim(leased(expired))).isInstanceOf(ClaimResult.Claimed.class);
        }
    }

    // Both are one transaction.
    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void nothingIsRemovedThatCannotBeArchived(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store = archiving(database);
            store.schema().createIfMissing();
            database.addExpired(7);
            database.execute("drop table idempotency_archive");

            assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> store.purgeExpired(5));

            assertThat(database.number("select count(*) from idempotency_record"))
                    .isEqualTo(7);
            store.schema().createIfMissing();
            assertThat(store.purgeExpired(5)).isEqualTo(5);
            assertThat(store.purgeExpired(5)).isEqualTo(2);
            assertThat(database.number("select count(*) from " + ARCHIVE)).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void severalNodesArchiveEachRecordOnce(String product) {
        int expired = 4_000;
        try (TestDatabase database = TestDatabase.of(product)) {
            archiving(database).schema().createIfMissing();
            database.addExpired(expired);

            List<Integer> moved = Bench.race(3, index -> {
                JdbcIdempotencyStore node = archiving(database);
                int sum = 0;
                int emptyHanded = 0;
                while (emptyHanded < 3) {
                    int batch = node.purgeExpired(300);
                    emptyHanded = batch == 0 ? emptyHanded + 1 : 0;
                    sum += batch;
                }
                return sum;
            });

            assertThat(moved.stream().mapToInt(Integer::intValue).sum()).isEqualTo(expired);
            assertThat(database.number("select count(distinct id) from " + ARCHIVE))
                    .isEqualTo(expired);
            assertThat(database.number("select count(*) from " + ARCHIVE)).isEqualTo(expired);
            assertThat(database.number("select count(*) from idempotency_record"))
                    .isZero();
        }
    }

    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void missingArchiveIsToldWithEveryWayOut(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcSchema schema = JdbcIdempotencyStore.builder(database.pool())
                    .archiveTableName("old_records")
                    .build()
                    .schema();

            assertThatExceptionOfType(UnusableTableException.class)
                    .isThrownBy(schema::verify)
                    .withMessageContaining("Table old_records")
                    .withMessageContaining("is missing")
                    .withMessageContaining("idempotency.jdbc.initialize-schema=always")
                    .withMessageContaining(schema.archiveLocation())
                    .withMessageContaining(schema.archiveMigrationLocation())
                    .withMessageContaining("needs INSERT on it");
            schema.createIfMissing();
            schema.verify();
            assertThat(database.number("select count(*) from old_records")).isZero();
        }
    }

    @Test
    void nameIsCheckedLikeThatOfTheTable() {
        try (TestDatabase database = TestDatabase.of(TestDatabase.products().get(0))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            JdbcIdempotencyStore.builder(database.pool()).archiveTableName("old; drop table business"))
                    .withMessageContaining("idempotency.jdbc.archive.table-name");
        }
    }

    /** What the first purge removes that finds something: the clock of the database has to go on. */
    private static int purgedAtLast(JdbcIdempotencyStore store) {
        return IntStream.generate(() -> store.purgeExpired(10))
                .filter(removed -> removed > 0)
                .findFirst()
                .getAsInt();
    }

    private static JdbcIdempotencyStore archiving(TestDatabase database) {
        return JdbcIdempotencyStore.builder(database.pool())
                .archiveTableName(ARCHIVE)
                .build();
    }
}
