package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

// Case 59
class H2ModesTests {

    private static final int KEYS = 100;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ";MODE=PostgreSQL",
                ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE",
                ";MODE=MySQL",
                ";MODE=MySQL;DATABASE_TO_LOWER=TRUE",
                ";MODE=MariaDB",
                ";MODE=Oracle",
                ";MODE=MSSQLServer",
                ";MODE=DB2",
                ";MODE=LEGACY",
                ";DATABASE_TO_UPPER=FALSE",
                ";CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                ";OLD_INFORMATION_SCHEMA=TRUE"
            })
    void everyStatementWorks(String options) {
        String url = "jdbc:h2:mem:" + UUID.randomUUID() + options;
        try (HikariDataSource pool = pool(url)) {
            JdbcIdempotencyStore leasing = JdbcIdempotencyStore.builder(pool).build();
            leasing.schema().createIfMissing();
            leasing.schema().createIfMissing();
            leasing.schema().verify();

            RecordId id = Requests.freshId();
            var lease = leaseOf(leasing.tryClaim(leased(id)));
            assertThat(leasing.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(leasing.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertThat(leasing.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
            for (ClaimMode mode : new ClaimMode[] {ClaimMode.JOINED, ClaimMode.SEPARATE}) {
                JdbcIdempotencyStore store =
                        JdbcIdempotencyStore.builder(pool).claimMode(mode).build();
                var request = exactlyOnce(Requests.freshId());
                store.beforeTransaction(request, false);
                new TransactionTemplate(new JdbcTransactionManager(pool)).executeWithoutResult(status -> {
                    var claimed = leaseOf(store.claimInTransaction(request, false));
                    assertThat(store.completeInTransaction(claimed, result("second"), LONG))
                            .isEqualTo(WriteOutcome.APPLIED);
                });
                assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Done.class);
            }
            assertThat(leasing.purgeExpired(10)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";MODE=PostgreSQL", ";MODE=MySQL"})
    void manyThreadsClaimEveryKeyOnceInMemory(String options) {
        assertEveryKeyIsClaimedOnce("jdbc:h2:mem:" + UUID.randomUUID() + options);
    }

    @Test
    void manyThreadsClaimEveryKeyOnceInAFile(@TempDir Path folder) {
        assertEveryKeyIsClaimedOnce("jdbc:h2:file:" + folder.resolve("test"));
    }

    private static void assertEveryKeyIsClaimedOnce(String url) {
        try (HikariDataSource pool = pool(url)) {
            JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(pool).build();
            store.schema().createIfMissing();
            String run = UUID.randomUUID().toString();
            AtomicIntegerArray effects = new AtomicIntegerArray(KEYS);

            Bench.race(32, index -> {
                for (int key = 0; key < KEYS; key++) {
                    RecordId id = RecordId.of("modes", run, Integer.toString(key));
                    if (store.tryClaim(leased(id)) instanceof ClaimResult.Claimed claimed) {
                        effects.incrementAndGet(key);
                        assertThat(store.complete(claimed.lease(), result("done"), LONG))
                                .isEqualTo(WriteOutcome.APPLIED);
                    }
                }
                return true;
            });

            for (int key = 0; key < KEYS; key++) {
                assertThat(effects.get(key)).isEqualTo(1);
            }
        }
    }

    private static HikariDataSource pool(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setUsername("sa");
        return pool;
    }
}
