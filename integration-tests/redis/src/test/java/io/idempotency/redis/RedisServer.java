package io.idempotency.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;

/** A Redis of this test run, as a process of its own on the loopback interface. It is gone when the run ends. */
final class RedisServer implements AutoCloseable {

    static final String URL_VARIABLE = "IDEMPOTENCY_TEST_REDIS_URL";

    private static final long START_SECONDS = 20;

    private final List<String> command;
    private final Path log;
    private final int port;
    private Process process;

    private RedisServer(List<String> command, Path log, int port) {
        this.command = command;
        this.log = log;
        this.port = port;
        this.process = launch();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly()));
    }

    /** Redis 7.0 with these options, each a name and a value. */
    static RedisServer start(String... options) {
        return start(RedisBinary.REDIS_7, options);
    }

    static RedisServer start(RedisBinary binary, String... options) {
        Path file;
        try {
            file = binary.file();
        } catch (IOException e) {
            if (named() != null) {
                throw new TestAbortedException(
                        "Only the contract can run on the server that " + URL_VARIABLE + " names", e);
            }
            throw new IllegalStateException(failure(), e);
        }
        try {
            int port = freePort();
            Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target", "redis")), "server-")
                    .toAbsolutePath();
            List<String> command = new ArrayList<>(List.of(
                    file.toString(),
                    "--port",
                    String.valueOf(port),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--dir",
                    folder.toString()));
            command.addAll(List.of(options));
            return new RedisServer(command, folder.resolve("log"), port);
        } catch (IOException e) {
            throw new IllegalStateException(failure(), e);
        }
    }

    /** A cluster of one node that has all slots and calls itself by another port, that of a proxy. */
    static RedisServer startCluster(int announcedPort) {
        return clusterReady(start(
                "--cluster-enabled",
                "yes",
                "--cluster-announce-ip",
                "127.0.0.1",
                "--cluster-announce-port",
                String.valueOf(announcedPort)));
    }

    /** A cluster of one node that has all slots. */
    static RedisServer startCluster() {
        return clusterReady(start("--cluster-enabled", "yes"));
    }

    private static RedisServer clusterReady(RedisServer server) {
        server.does(jedis -> jedis.clusterAddSlotsRange(0, 16383));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!server.<String>does(Jedis::clusterInfo).contains("cluster_state:ok")) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("The Redis cluster does not become ready");
            }
            pause();
        }
        return server;
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** The server that was named for the tests. */
    static String named() {
        String url = System.getenv(URL_VARIABLE);
        return url == null || url.isBlank() ? null : url;
    }

    private static String failure() {
        return "Redis cannot be started for the tests. Name one of your own in the environment variable " + URL_VARIABLE
                + " (redis://localhost:6379); the tests delete what they put into it";
    }

    private Process launch() {
        try {
            Process started = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
            while (!answers()) {
                if (!started.isAlive() || System.nanoTime() > end) {
                    started.destroyForcibly();
                    throw new IllegalStateException(failure() + ". It says:\n" + Files.readString(log));
                }
                pause();
            }
            return started;
        } catch (IOException e) {
            throw new IllegalStateException(failure(), e);
        }
    }

    private boolean answers() {
        try (Jedis jedis = connect()) {
            return jedis.ping().equals("PONG");
        } catch (RuntimeException e) {
            return false;
        }
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }

    int port() {
        return port;
    }

    /** A connection past every store and proxy. */
    Jedis connect() {
        return new Jedis("127.0.0.1", port);
    }

    /** Something on such a connection. */
    <R> R does(Function<Jedis, R> action) {
        try (Jedis jedis = connect()) {
            return action.apply(jedis);
        }
    }

    Set<String> keys() {
        return does(jedis -> jedis.keys("*"));
    }

    /** Closes every connection of that name, from the server's side. */
    int killConnections(String name) {
        return does(jedis -> {
            int killed = 0;
            for (String client : jedis.clientList().split("\n")) {
                if (client.contains(" name=" + name + " ")) {
                    killed +=
                            (int) jedis.clientKill(new ClientKillParams().id(client.substring(3, client.indexOf(' '))));
                }
            }
            return killed;
        });
    }

    /** Stops it in the middle of whatever it does; connections stay. */
    void freeze() {
        signal("STOP");
    }

    void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            int code = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill -" + name + " failed with " + code);
            }
        } catch (IOException e) {
            throw new IllegalStateException("kill -" + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    /** {@code kill -9}. */
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    /** Starts it again on the same port, with what is on its disk. */
    void restart() {
        process = launch();
    }

    @Override
    public void close() {
        kill();
    }
}
