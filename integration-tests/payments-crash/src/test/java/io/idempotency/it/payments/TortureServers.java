package io.idempotency.it.payments;

import io.idempotency.it.servers.CrashablePostgres;
import io.idempotency.it.servers.MariaDbProcess;
import io.idempotency.it.servers.RedisProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The servers of a campaign. What they have acknowledged survives their death, unless they are told to forget it. */
final class TortureServers implements AutoCloseable {

    private final Path directory;
    private final Map<String, String> environment = new HashMap<>();
    private final List<Wound> wounds = new ArrayList<>();
    private final List<AutoCloseable> servers = new ArrayList<>();
    private long forgotten;

    private TortureServers() {
        directory = Database.H2.create().directory();
    }

    static TortureServers h2() {
        return new TortureServers();
    }

    static TortureServers postgres() {
        TortureServers servers = new TortureServers();
        CrashablePostgres server = new CrashablePostgres(servers.directory);
        servers.servers.add(server);
        servers.environment.putAll(Map.of("SPRING_PROFILES_ACTIVE", "postgres", "SPRING_DATASOURCE_URL", server.url()));
        servers.wounds.add(new Wound("postgresql-kills", () -> {
            server.kill();
            server.restart();
        }));
        return servers;
    }

    static TortureServers mariaDb() {
        TortureServers servers = new TortureServers();
        MariaDbProcess server = new MariaDbProcess(servers.directory.resolve("server"));
        server.start();
        servers.servers.add(server::kill);
        servers.environment.putAll(Map.of(
                "SPRING_PROFILES_ACTIVE", "mariadb",
                "SPRING_DATASOURCE_URL", newDatabase(server.url()),
                "SPRING_DATASOURCE_USERNAME", "root"));
        servers.wounds.add(new Wound("mariadb-kills", () -> {
            server.kill();
            server.start();
        }));
        return servers;
    }

    private static String newDatabase(String url) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("create database payments");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return url.replace("/mysql", "/payments");
    }

    /** With the sample's profile of this name. */
    static TortureServers postgresAndRedis(String profile, boolean forgetful) {
        TortureServers servers = postgres();
        // What the client has been told is on the disk.
        RedisProcess server = RedisProcess.start(
                "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "allkeys-random");
        servers.servers.add(server);
        servers.environment.putAll(
                Map.of("SPRING_PROFILES_ACTIVE", "postgres," + profile, "REDIS_PORT", String.valueOf(server.port())));
        servers.wounds.add(new Wound("redis-kills", () -> {
            server.kill();
            server.restart();
        }));
        servers.wounds.add(new Wound("redis-connections-cut", () -> server.say("CLIENT KILL TYPE normal SKIPME yes")));
        if (forgetful) {
            servers.wounds.add(new Wound("redis-flushes", () -> servers.flush(server)));
            servers.wounds.add(new Wound("redis-evictions", () -> servers.evict(server)));
        }
        return servers;
    }

    private void flush(RedisProcess server) {
        String keys = server.say("EVAL \"local keys = redis.call('DBSIZE') redis.call('FLUSHALL') return keys\" 0");
        if (!keys.startsWith(":")) {
            throw new IllegalStateException(keys);
        }
        forgotten += Long.parseLong(keys.substring(1).strip());
    }

    /** Lets it be full for a moment. */
    private void evict(RedisProcess server) {
        long before = number(server.say("INFO stats"), "evicted_keys:");
        long used = number(server.say("INFO memory"), "used_memory:");
        server.say("CONFIG SET maxmemory " + (used - 100_000));
        server.say("CONFIG SET maxmemory 0");
        forgotten += number(server.say("INFO stats"), "evicted_keys:") - before;
    }

    private static long number(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.substring(name.length())))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(info));
    }

    /** Where they are. */
    Database.Instance database() {
        return new Database.Instance(directory, environment);
    }

    List<Wound> wounds() {
        return wounds;
    }

    /** How many keys Redis has been made to forget. */
    long forgotten() {
        return forgotten;
    }

    @Override
    public void close() {
        servers.forEach(server -> {
            try {
                server.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /**
     * Something that is done to a server.
     *
     * @param name its column in the report
     * @param inflict returns when the server works again
     */
    record Wound(String name, Runnable inflict) {}
}
