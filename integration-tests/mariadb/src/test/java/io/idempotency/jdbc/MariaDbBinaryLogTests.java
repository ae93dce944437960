package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.it.servers.MariaDbProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a server that writes a binary log, as one with replicas does. */
class MariaDbBinaryLogTests {

    @TempDir
    Path data;

    private MariaDbProcess server;
    private TestDatabase database;

    @BeforeEach
    void startServer() {
        server = new MariaDbProcess(data, "--log-bin", "--sync-binlog=0", "--binlog-format=ROW");
        server.start();
        database = TestDatabase.at(new MariaDbServer(server.url()).newDatabase("mariadb", ""));
    }

    @AfterEach
    void stopServer() {
        database.close();
        server.kill();
    }

    @Test
    void formatThatCannotBeWrittenAtReadCommittedIsToldAtStart() {
        JdbcSchema schema =
                JdbcIdempotencyStore.builder(database.pool()).build().schema();
        schema.verify();
        database.execute("set global binlog_format = 'STATEMENT'");
        database.pool().getHikariPoolMXBean().softEvictConnections();

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("binlog_format is STATEMENT: it has to be ROW or MIXED");
    }

    @Test
    void logThatIsNotFlushedIsTold() {
        JdbcSchema schema =
                JdbcIdempotencyStore.builder(database.pool()).build().schema();

        assertThat(schema.durabilityWarnings())
                .anySatisfy(warning -> assertThat(warning).contains("sync_binlog is 0"));
    }
}
