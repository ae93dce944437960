package io.idempotency.it.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A PostgreSQL that is killed and started again on its data and port. What it has committed survives the death of its process. */
public final class CrashablePostgres implements AutoCloseable {

    private static final int STARTS = 40;

    private final Path data;
    private final int port;
    private EmbeddedPostgres server;

    /** Starts it with its data below this directory. */
    public CrashablePostgres(Path directory) {
        this.data = directory.resolve("server");
        this.port = Ports.free();
        this.server = startServer();
    }

    public String url() {
        return server.getJdbcUrl("postgres", "postgres");
    }

    /** {@code kill -9}. */
    public void kill() {
        try {
            long postmaster = Long.parseLong(
                    Files.readAllLines(data.resolve("postmaster.pid")).get(0));
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

    public void restart() {
        server = startServer();
    }

    // The children of a killed server need a moment to notice it, and hold its memory so long.
    private EmbeddedPostgres startServer() {
        for (int i = 1; ; i++) {
            try {
                return EmbeddedPostgres.builder()
                        .setDataDirectory(data)
                        .setCleanDataDirectory(false)
                        .setPort(port)
                        // The embedded server answers before it writes if nobody tells it not to.
                        .setServerConfig("synchronous_commit", "on")
                        .setServerConfig("fsync", "off")
                        .setServerConfig("max_connections", "200")
                        .start();
            } catch (IOException | RuntimeException e) {
                if (i == STARTS) {
                    throw new IllegalStateException(e);
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(250);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
