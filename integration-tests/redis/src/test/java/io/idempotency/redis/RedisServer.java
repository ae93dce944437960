package io.idempotency.redis;

import io.idempotency.it.servers.Ports;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;

/** A Redis of this test run, as a process of its own on the loopback interface. It is gone when the run ends. */
final class RedisServer implements AutoCloseable {

    static final String URL_VARIABLE = "IDEMPOTENCY_TEST_REDIS_URL";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final RedisProcess process;

    private RedisServer(RedisProcess process) {
        this.process = process;
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
            return new RedisServer(RedisProcess.startOn(Ports.free(), file, options));
        } catch (IOException e) {
            throw new IllegalStateException(failure(), e);
        }
    }

    /** A cluster of one node that has all slots and calls itself by another port, that of a proxy. */
    static RedisServer startCluster(int announcedPort) {
        return alone(startNode(
                "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", String.valueOf(announcedPort)));
    }

    /** A cluster of one node that has all slots. */
    static RedisServer startCluster() {
        return alone(startNode());
    }

    private static RedisServer alone(RedisServer node) {
        node.does(jedis -> jedis.clusterAddSlotsRange(0, 16383));
        node.awaitClusterOf(1);
        return node;
    }

    /** A node of a cluster, which has no slot and knows no other node. */
    static RedisServer startNode(String... options) {
        // Unless it is told, the port of the cluster's bus is 10 000 above, where there may be none.
        List<String> all =
                new ArrayList<>(List.of("--cluster-enabled", "yes", "--cluster-port", String.valueOf(Ports.free())));
        all.addAll(List.of(options));
        return start(all.toArray(String[]::new));
    }

    /** Waits until it knows that many nodes and who has which slot. */
    void awaitClusterOf(int nodes) {
        long start = System.nanoTime();
        while (true) {
            String info = does(Jedis::clusterInfo);
            if (info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + nodes + "\r")) {
                return;
            }
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new IllegalStateException("The Redis cluster does not become ready");
            }
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
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

    int port() {
        return process.port();
    }

    /** A connection past every store and proxy. */
    Jedis connect() {
        return new Jedis("127.0.0.1", port());
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
        process.kill();
    }

    /** Starts it again on the same port, with what is on its disk. */
    void restart() {
        process.restart();
    }

    @Override
    public void close() {
        kill();
    }
}
