package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.it.servers.MariaDbProcess;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionConflictException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** On a server of its own, which may be killed and has a setting that cannot be changed while it runs. */
class MariaDbRestartTests {

    @TempDir
    Path data;

    private MariaDbProcess server;

    @BeforeEach
    void startServer() {
        server = new MariaDbProcess(data, "--innodb-rollback-on-timeout=ON");
        server.start();
    }

    @AfterEach
    void stopServer() {
        server.kill();
    }

    // Case 63
    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void killedServerCostsNoEffectAndNoRestartOfTheApplication(ClaimMode mode) {
        try (TestDatabase database = database()) {
            RestartScenario.run(database, mode, server::kill, server::start);
        }
    }

    // The server has rolled back more than the statement that timed out, so nothing may go on as if it had not.
    @Test
    void lockTimeoutThatEndsTheTransactionIsAConflictAndNotARefusal() {
        try (TestDatabase database = database()) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.pool()));
            RecordId id = freshId();
            transaction.executeWithoutResult(first -> {
                assertThat(store.claimInOpenTransaction(exactlyOnce(id))).isInstanceOf(ClaimResult.Claimed.class);
                ClaimRequest other = exactlyOnce(id);
                Bench.race(1, index -> {
                    assertThat(store.tryClaim(Requests.leased(id))).isInstanceOf(ClaimResult.InProgress.class);
                    transaction.executeWithoutResult(second -> {
                        assertThatExceptionOfType(TransactionConflictException.class)
                                .isThrownBy(() -> store.claimInOpenTransaction(other));
                        second.setRollbackOnly();
                    });
                    return true;
                });
            });
        }
    }

    private TestDatabase database() {
        return TestDatabase.at(new MariaDbServer(server.url()).newDatabase("mariadb", ""));
    }
}
