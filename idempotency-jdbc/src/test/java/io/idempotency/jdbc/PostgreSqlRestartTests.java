package io.idempotency.jdbc;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

// Case 63
class PostgreSqlRestartTests {

    private static final int STARTS = 20;

    @TempDir
    Path data;

    private int port;
    private EmbeddedPostgres server;

    @BeforeEach
    void startServer() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        start();
    }

    @AfterEach
    void stopServer() throws IOException {
        server.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void killedServerCostsNoEffectAndNoRestartOfTheApplication(ClaimMode mode) {
        try (TestDatabase database = TestDatabase.at(server.getJdbcUrl("postgres", "postgres"))) {
            RestartScenario.run(database, mode, this::kill, this::start);
        }
    }

    private void kill() {
        try {
            long postmaster = Long.parseLong(
                    Files.readAllLines(data.resolve("server/postmaster.pid")).get(0));
            ProcessHandle process = ProcessHandle.of(postmaster).orElseThrow();
            process.destroyForcibly();
            process.onExit().get(30, TimeUnit.SECONDS);
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    // The children of a killed server need a moment to notice it, and hold its memory so long.
    private void start() {
        for (int i = 1; ; i++) {
            try {
                server = EmbeddedPostgres.builder()
                        .setDataDirectory(data.resolve("server"))
                        .setCleanDataDirectory(false)
                        .setPort(port)
                        // The embedded server answers before it writes if nobody tells it not to.
                        .setServerConfig("synchronous_commit", "on")
                        .setServerConfig("fsync", "off")
                        .start();
                return;
            } catch (IOException | RuntimeException e) {
                if (i == STARTS) {
                    throw new IllegalStateException(e);
                }
                Pause.of(Duration.ofMillis(250));
            }
        }
    }
}
