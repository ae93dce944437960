package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The session of a claim in a transaction dies. */
class CrashTests {

    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void keyIsFreeAsSoonAsTheDatabaseHasDroppedTheSession(ClaimMode mode) throws Exception {
        try (TestDatabase database = TestDatabase.postgreSql()) {
            JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool())
                    .claimMode(mode)
                    .build();
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.pool()));
            RecordId id = freshId();
            CompletableFuture<Long> session = new CompletableFuture<>();
            CompletableFuture<Void> end = new CompletableFuture<>();
            Thread owner = new Thread(() -> {
                try {
                    ClaimRequest request = exactlyOnce(id);
                    store.beforeTransaction(request, false);
                    transaction.executeWithoutResult(status -> {
                        store.claimInTransaction(request, false);
                        JdbcTemplate jdbc = new JdbcTemplate(database.pool());
                        jdbc.update("insert into business (text) values ('dead')");
                        session.complete(jdbc.queryForObject("select pg_backend_pid()", Long.class));
                        end.join();
                    });
                } catch (RuntimeException dead) {
                    session.completeExceptionally(dead);
                }
            });
            owner.start();
            long pid = session.get(20, TimeUnit.SECONDS);

            assertThat(claim(store, transaction, id)).isNotInstanceOf(ClaimResult.Claimed.class);
            database.number("select count(pg_terminate_backend(" + pid + "))");
            database.await(
                    "select case when exists (select from pg_stat_activity where pid = " + pid + ") then 0 else 1 end");
            long dropped = System.nanoTime();

            assertThat(claim(store, transaction, id)).isInstanceOf(ClaimResult.Claimed.class);

            assertThat(Duration.ofNanos(System.nanoTime() - dropped)).isLessThan(Duration.ofSeconds(2));
            end.complete(null);
            owner.join(20_000);
            assertThat(database.businessRows("dead")).isZero();
        }
    }

    private static ClaimResult claim(JdbcIdempotencyStore store, TransactionTemplate transaction, RecordId id) {
        ClaimRequest request = exactlyOnce(id);
        store.beforeTransaction(request, false);
        return transaction.execute(status -> {
            status.setRollbackOnly();
            return store.claimInTransaction(request, false);
        });
    }
}
