package io.idempotency.boot;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Mode;
import io.idempotency.OnDuplicate;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Settings of the idempotency library. A value that cannot be used is refused when it is bound, by property and reason.
 *
 * @param enabled Whether the library is active. If not, it contributes nothing and annotated methods run unprotected.
 * @param store Where records are kept. "auto" takes the one store module that the application has.
 * @param mode What the library does with calls. "observe" lets them run unprotected and counts what would become of them, "off" lets them
 *     run unprotected.
 * @param guarantee What holds when the process crashes at any point. "auto" chooses exactly-once where it can hold, else at-least-once.
 * @param minimumGuarantee Weakest guarantee that "auto" may choose; the application does not start with less.
 * @param lease How long a vanished owner blocks its key; renewed while the action runs. Not used by exactly-once.
 * @param maxExecution How long the lease of a running action is renewed. The action itself is not interrupted.
 * @param retention How long a finished result is kept, counted from its completion. 36500d at most.
 * @param waitAtMost How long a duplicate waits for the first call before it is refused as in progress.
 * @param onStoreFailure What happens to a call when the store cannot answer. "proceed" runs it unprotected.
 * @param storeResult Whether results are kept. If not, only the fact is, and duplicates learn that the work was done.
 * @param operations Settings of single operations by name. They override the annotation, which overrides the settings above.
 * @param web Settings of HTTP requests.
 * @param jdbc Settings of the JDBC store.
 * @param redis Settings of the Redis store, and of Redis before a database.
 * @param tiered Settings of the tiered store.
 * @param purge Settings of the job that removes expired records.
 * @param client Settings of the application's own calls.
 * @since 0.1.0
 */
@ConfigurationProperties(value = "idempotency", ignoreUnknownFields = false)
public record IdempotencyProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("auto") Store store,
        @DefaultValue("enforce") Mode mode,
        @DefaultValue("auto") Guarantee guarantee,
        @Nullable Guarantee minimumGuarantee,
        @DefaultValue("30s") Duration lease,
        @DefaultValue("10m") Duration maxExecution,
        @DefaultValue("24h") Duration retention,
        @DefaultValue("0s") Duration waitAtMost,
        @DefaultValue("reject") OnStoreFailure onStoreFailure,
        @DefaultValue("true") boolean storeResult,
        @DefaultValue Map<String, Operation> operations,
        @DefaultValue Web web,
        @DefaultValue Jdbc jdbc,
        @DefaultValue Redis redis,
        @DefaultValue Tiered tiered,
        @DefaultValue Purge purge,
        @DefaultValue Client client) {

    static final String PREFIX = "idempotency.";
    static final String OPERATIONS = PREFIX + "operations.";

    public IdempotencyProperties {
        checkDurations(PREFIX, lease, maxExecution, retention, waitAtMost);
        operations = Map.copyOf(operations);
        operations.forEach((name, operation) -> operation.check(OPERATIONS + name + "."));
    }

    private static void checkDurations(
            String prefix,
            @Nullable Duration lease,
            @Nullable Duration maxExecution,
            @Nullable Duration retention,
            @Nullable Duration waitAtMost) {
        DurationSetting.LEASE.check(prefix, lease);
        DurationSetting.MAX_EXECUTION.check(prefix, maxExecution);
        DurationSetting.RETENTION.check(prefix, retention);
        DurationSetting.WAIT_AT_MOST.check(prefix, waitAtMost);
    }

    private static void require(boolean condition, String property, Object value, String reason, String remedy) {
        if (!condition) {
            throw IdempotencyConfigurationException.ofProperty(PREFIX + property, value, reason, remedy);
        }
    }

    /** Where records are kept. */
    public enum Store {
        /** The one store module that the application has. */
        AUTO,
        /** A table of the application's database. */
        JDBC,
        /** Redis. */
        REDIS,
        /** A database that decides, with Redis before it. */
        TIERED,
        /** The memory of this process: for tests and demonstrations. */
        IN_MEMORY
    }

    /** What happens to a call when the store cannot answer. */
    public enum OnStoreFailure {
        /** It is refused. */
        REJECT,
        /** It runs unprotected. */
        PROCEED
    }

    /** Isolation of the transaction that the library opens for an operation. */
    public enum Isolation {
        /** Reads uncommitted data. */
        READ_UNCOMMITTED,
        /** Reads committed data. */
        READ_COMMITTED,
        /** Reads the same data again. */
        REPEATABLE_READ,
        /** As if transactions ran one after the other. */
        SERIALIZABLE
    }

    /**
     * Settings of one operation. What is not set falls through to the annotation and then to the global settings.
     *
     * @param mode What the library does with calls of this operation.
     * @param guarantee What holds when the process crashes at any point.
     * @param lease How long a vanished owner blocks its key.
     * @param maxExecution How long the lease of a running action is renewed.
     * @param retention How long a finished result is kept, counted from its completion.
     * @param waitAtMost How long a duplicate waits for the first call before it is refused as in progress.
     * @param required Whether a call without a key is refused.
     * @param fingerprintScheme How the payloads of calls with the same key are compared.
     * @param onDuplicate What the duplicate of a finished call gets.
     * @param onStoreFailure What happens to a call when the store cannot answer.
     * @param storeResult Whether results are kept, or only the fact.
     * @param storeFailures Exceptions that are a final result and are stored.
     * @param releaseFailures Exceptions that prove that nothing happened, so that the key is free again at once.
     * @param isolation Isolation of the transaction where the method itself asks for none.
     * @param timeout Timeout of the transaction in whole seconds where the method itself has none.
     */
    public record Operation(
            @Nullable Mode mode,
            @Nullable Guarantee guarantee,
            @Nullable Duration lease,
            @Nullable Duration maxExecution,
            @Nullable Duration retention,
            @Nullable Duration waitAtMost,
            @Nullable Boolean required,
            @Nullable FingerprintScheme fingerprintScheme,
            @Nullable OnDuplicate onDuplicate,
            @Nullable OnStoreFailure onStoreFailure,
            @Nullable Boolean storeResult,
            @Nullable List<Class<? extends Throwable>> storeFailures,
            @Nullable List<Class<? extends Throwable>> releaseFailures,
            @Nullable Isolation isolation,
            @Nullable Duration timeout) {

        public Operation {
            storeFailures = storeFailures == null ? null : List.copyOf(storeFailures);
            releaseFailures = releaseFailures == null ? null : List.copyOf(releaseFailures);
        }

        private void check(String prefix) {
            checkDurations(prefix, lease, maxExecution, retention, waitAtMost);
            checkThrowables(prefix + "store-failures", storeFailures);
            checkThrowables(prefix + "release-failures", releaseFailures);
            if (timeout != null
                    && (timeout.compareTo(Duration.ofSeconds(1)) < 0
                            || timeout.compareTo(Duration.ofDays(1)) > 0
                            || timeout.getNano() != 0)) {
                throw IdempotencyConfigurationException.ofProperty(
                        prefix + "timeout",
                        Durations.print(timeout),
                        "must be whole seconds, 1s to 24h",
                        "Transactions know no finer timeout; set for example 30s.");
            }
        }

        // The binder does not look at the bound of the type.
        private static void checkThrowables(String property, @Nullable List<? extends Class<?>> types) {
            for (Class<?> type : types == null ? List.<Class<?>>of() : types) {
                if (!Throwable.class.isAssignableFrom(type)) {
                    throw IdempotencyConfigurationException.ofProperty(
                            property, type.getName(), "is not an exception", "Name classes that extend Throwable.");
                }
            }
        }
    }

    /**
     * Settings of HTTP requests.
     *
     * @param enabled Whether HTTP requests are protected.
     * @param header Name of the request header that carries the key.
     * @param required Whether a request without a key is refused. If not, it runs unprotected.
     * @param fingerprintScheme How the payloads of requests with the same key are compared.
     * @param maxRequestSize Largest request body. A larger one is refused.
     * @param maxResponseSize Largest response body that is stored. Of a larger one only the fact is kept.
     * @param maxSpillSize Largest response body that is held back in a temporary file until its transaction is committed.
     * @param anonymous Whether callers that are not authenticated share one key space or are refused. Refused by default where Spring
     *     Security is present.
     * @param replayedHeader Name of the response header that marks a replay.
     * @param replayHeaders Further response headers that are stored and replayed.
     * @param problemTypeBase What the type of a problem begins with; its code follows.
     * @param order Order of the servlet filter. Spring Security must come before it.
     * @param rules Handlers without an annotation whose requests are idempotent, by their path.
     */
    public record Web(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("Idempotency-Key") String header,
            @DefaultValue("true") boolean required,
            @DefaultValue("raw") FingerprintScheme fingerprintScheme,
            @DefaultValue("1MB") DataSize maxRequestSize,
            @DefaultValue("1MB") DataSize maxResponseSize,
            @DefaultValue("64MB") DataSize maxSpillSize,
            @Nullable Anonymous anonymous,
            @DefaultValue("Idempotent-Replayed") String replayedHeader,
            @DefaultValue List<String> replayHeaders,
            @DefaultValue("urn:idempotency:") String problemTypeBase,
            @DefaultValue("-90") int order,
            @DefaultValue List<Rule> rules) {

        private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

        public Web {
            replayHeaders = List.copyOf(replayHeaders);
            rules = List.copyOf(rules);
            checkHeader("header", header);
            checkHeader("replayed-header", replayedHeader);
            replayHeaders.forEach(name -> checkHeader("replay-headers", name));
            checkSize("max-request-size", maxRequestSize);
            checkSize("max-response-size", maxResponseSize);
            checkSize("max-spill-size", maxSpillSize);
            require(
                    fingerprintScheme != FingerprintScheme.DEFAULT,
                    "web.fingerprint-scheme",
                    "default",
                    "is the default itself",
                    "Set raw, json or none.");
        }

        private static void checkHeader(String property, String name) {
            require(
                    HEADER.matcher(name).matches(),
                    "web." + property,
                    name,
                    "is not the name of a header",
                    "Header names have letters, digits and hyphens.");
        }

        private static void checkSize(String property, DataSize size) {
            require(
                    size.toBytes() >= 1 && size.toBytes() <= Integer.MAX_VALUE,
                    "web." + property,
                    size,
                    "must be between 1B and 2047MB",
                    "Set for example 1MB.");
        }

        /**
         * Makes the requests of handlers idempotent that nobody can annotate. Everything else is set by the operation's name.
         *
         * @param operation Name of the operation.
         * @param path Pattern of the path, below the context path.
         * @param methods HTTP methods.
         */
        public record Rule(
                @Nullable String operation,
                @Nullable String path,
                @DefaultValue({"POST", "PATCH"}) List<String> methods) {

            private static final Set<String> SAFE = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

            public Rule {
                methods = methods.stream()
                        .map(method -> method.toUpperCase(Locale.ROOT))
                        .toList();
                require(
                        operation != null && OperationNames.isValid(operation),
                        "web.rules[].operation",
                        operation == null ? "" : operation,
                        "is no name of an operation",
                        "Use a-z, 0-9 and hyphens.");
                require(
                        path != null && path.startsWith("/"),
                        "web.rules[].path",
                        path == null ? "" : path,
                        "is no pattern of a path",
                        "Begin with a slash, for example /payments/**.");
                require(
                        !methods.isEmpty() && methods.stream().noneMatch(SAFE::contains),
                        "web.rules[].methods",
                        String.join(",", methods),
                        "names none, or one that is idempotent by itself",
                        "Name others, for example POST.");
            }
        }

        /** What happens to callers that are not authenticated. */
        public enum Anonymous {
            /** They are refused. */
            REFUSE,
            /** All of them share one key space. */
            SHARE
        }
    }

    /**
     * Settings of the JDBC store.
     *
     * @param tableName Name of the table that holds the records, with its schema if needed.
     * @param initializeSchema When the table is created at start. "embedded" creates it in in-memory databases only.
     * @param claimMode How an operation that is exactly-once claims its key. "auto" takes what is best for the database.
     * @param queryTimeout How long one statement of the store may take.
     * @param dataSource Name of the DataSource bean that holds the table. By default the only or the primary one.
     * @param transactionManager Name of the transaction manager bean for methods that name none. By default the only or the primary one.
     * @param archive Where expired records go.
     */
    public record Jdbc(
            @DefaultValue("idempotency_record") String tableName,
            @DefaultValue("embedded") InitializeSchema initializeSchema,
            @DefaultValue("auto") ClaimMode claimMode,
            @DefaultValue("5s") Duration queryTimeout,
            @Nullable String dataSource,
            @Nullable String transactionManager,
            @DefaultValue Archive archive) {

        public Jdbc {
            require(
                    queryTimeout.compareTo(Duration.ofSeconds(1)) >= 0
                            && queryTimeout.compareTo(Duration.ofDays(1)) <= 0
                            && queryTimeout.getNano() == 0,
                    "jdbc.query-timeout",
                    Durations.print(queryTimeout),
                    "must be whole seconds, 1s to 24h",
                    "JDBC knows no finer timeout; set for example 5s.");
        }

        /**
         * Where expired records go.
         *
         * @param enabled Whether the purge moves expired records to an archive table instead of removing them.
         * @param tableName Name of the archive table, in the same database, with its schema if needed.
         */
        public record Archive(
                @DefaultValue("false") boolean enabled,
                @DefaultValue("idempotency_archive") String tableName) {}

        /** When the table is created at start. */
        public enum InitializeSchema {
            /** In in-memory databases only. */
            EMBEDDED,
            /** In every database, where it is missing. */
            ALWAYS,
            /** Never. */
            NEVER
        }

        /** How an operation that is exactly-once claims its key. */
        public enum ClaimMode {
            /** What is best for the database. */
            AUTO,
            /** In the business transaction. */
            JOINED,
            /** By a committed placeholder that the business transaction locks. */
            SEPARATE
        }
    }

    /**
     * Settings of the Redis store, and of Redis before a database.
     *
     * @param keyPrefix What the names of keys begin with. Applications share records if and only if they share server, database and prefix.
     * @param connectionFactory Name of the RedisConnectionFactory bean. By default the only or the primary one.
     * @param waitReplicas How many replicas have to confirm a claim or a result. Not on a cluster.
     */
    public record Redis(
            @DefaultValue("idempotency:") String keyPrefix,
            @Nullable String connectionFactory,
            @DefaultValue("0") int waitReplicas) {

        private static final Pattern KEY_PREFIX = Pattern.compile("[A-Za-z0-9:._/-]{1,100}");

        public Redis {
            require(
                    KEY_PREFIX.matcher(keyPrefix).matches(),
                    "redis.key-prefix",
                    keyPrefix,
                    "is not 1 to 100 of the characters A-Z a-z 0-9 : . _ / -",
                    "Set for example payments:idempotency:.");
            require(
                    waitReplicas >= 0 && waitReplicas <= 100,
                    "redis.wait-replicas",
                    waitReplicas,
                    "must be between 0 and 100",
                    "Set 0 to wait for none.");
        }
    }

    /**
     * Settings of the tiered store.
     *
     * @param cacheTtl How long Redis keeps the copy of a result at most.
     */
    public record Tiered(@DefaultValue("1h") Duration cacheTtl) {

        public Tiered {
            require(
                    cacheTtl.compareTo(Duration.ofSeconds(2)) >= 0 && cacheTtl.compareTo(Duration.ofDays(1)) <= 0,
                    "tiered.cache-ttl",
                    Durations.print(cacheTtl),
                    "must be between 2s and 24h",
                    "Set for example 1h; the database has the results for the whole retention.");
        }
    }

    /**
     * Settings of the job that removes expired records.
     *
     * @param enabled Whether expired records are removed by this application.
     * @param interval Time between two runs; every node spreads its runs a little.
     * @param batchSize How many records are removed in one transaction.
     */
    public record Purge(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("10m") Duration interval,
            @DefaultValue("1000") int batchSize) {

        public Purge {
            require(
                    interval.compareTo(Duration.ofMillis(1)) >= 0 && interval.compareTo(Duration.ofDays(36500)) <= 0,
                    "purge.interval",
                    Durations.print(interval),
                    "must be between 1ms and 36500d",
                    "Set for example 10m, or switch the job off by idempotency.purge.enabled=false.");
            require(batchSize >= 1, "purge.batch-size", batchSize, "must be at least 1", "Set for example 1000.");
        }
    }

    /**
     * Settings of the application's own calls.
     *
     * @param keys What the bean IdempotencyKeyGenerator makes: keys for calls that have none of their own.
     * @param node Number of this process for tsid and snowflake, from 0 to 1023. No other process may have it at the same time.
     */
    public record Client(
            @DefaultValue("uuid-v7") Keys keys, @Nullable Integer node) {

        private static final int NODES = 1024;

        public Client {
            require(
                    keys.withoutNode() || node != null,
                    "client.keys",
                    keys.text(),
                    "needs the number of this process, because two processes with one number make the same keys",
                    "Set idempotency.client.node to a number from 0 to 1023 that no other process has.");
            require(
                    node == null || node >= 0 && node < NODES,
                    "client.node",
                    node == null ? "" : node,
                    "must be from 0 to 1023",
                    "Set a number in this range that no other process has.");
        }

        /** What keys are made of. */
        public enum Keys {
            /** UUIDs of version 7, ordered by time. */
            UUID_V7,
            /** UUIDs of version 4, random. */
            UUID_V4,
            /** 13 characters, ordered by time, with the number of the process. */
            TSID,
            /** Decimal numbers, ordered by time, with the number of the process. */
            SNOWFLAKE;

            boolean withoutNode() {
                return this == UUID_V7 || this == UUID_V4;
            }

            String text() {
                return name().toLowerCase(Locale.ROOT).replace('_', '-');
            }
        }
    }
}
