package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a {@link JdbcIdempotencyStore}, that of its records and, where it has one, that of its archive: creates them, and
 * checks at start what would otherwise fail at the first call.
 *
 * <p>Every method throws {@link StoreUnavailableException} where the database cannot be reached and
 * {@link UnsupportedDatabaseException} where it is not one that the store works on.
 *
 * @since 0.1.0
 */
public final class JdbcSchema {

    private static final String FOLDER = "io/idempotency/jdbc/";

    private static final int CREATIONS = 3;

    private static final int LARGE_RESULT = 70_000;

    private static final String ARCHIVE = "insert into %3$s (id, %2$s, archived_at, archived_on)"
            + " select id, %2$s, 0, current_date from %1$s where id = ?";

    private static final String COPY = "insert into %1$s (id, %2$s) select id, %2$s from %1$s where id = ?";

    private final JdbcIdempotencyStore store;
    private final TableName table;
    private final @Nullable TableName archive;

    JdbcSchema(JdbcIdempotencyStore store, TableName table, @Nullable TableName archive) {
        this.store = store;
        this.table = table;
        this.archive = archive;
    }

    /** The script that makes the table of the records, on the class path; with the name {@code idempotency_record} in it. */
    public String location() {
        return location(table);
    }

    /** The same as a migration for Flyway or Liquibase, on the class path. */
    public String migrationLocation() {
        return migrationLocation(table);
    }

    /** The script that makes the table of the archive, on the class path; with the name {@code idempotency_archive} in it. */
    public String archiveLocation() {
        return FOLDER + "archive-" + platform() + ".sql";
    }

    /** The same as a migration for Flyway or Liquibase, on the class path. */
    public String archiveMigrationLocation() {
        return FOLDER + "migration/" + platform() + "/V2__idempotency_archive.sql";
    }

    private String location(TableName of) {
        return of.use() == TableName.Use.ARCHIVE ? archiveLocation() : FOLDER + "schema-" + platform() + ".sql";
    }

    private String migrationLocation(TableName of) {
        return of.use() == TableName.Use.ARCHIVE
                ? archiveMigrationLocation()
                : FOLDER + "migration/" + platform() + "/V1__idempotency_record.sql";
    }

    private String platform() {
        return store.database().dialect().platform();
    }

    /**
     * Makes the tables, under the names that the store uses, if they are not there. Several nodes may do so at once.
     *
     * @throws UnusableTableException if the database refuses it
     */
    public void createIfMissing() {
        createIfMissing(table);
        if (archive != null) {
            createIfMissing(archive);
        }
    }

    private void createIfMissing(TableName of) {
        store.own("Creating table " + of.text(), (dialect, session) -> {
            for (int creation = 1; !exists(session, of); creation++) {
                try {
                    create(session, of);
                } catch (SQLException e) {
                    // Two that create the same table at once can meet in the catalog, whatever "if not exists" says.
                    if (creation == CREATIONS) {
                        throw unusable(session, of, e);
                    }
                }
            }
            return true;
        });
    }

    private static boolean exists(Session session, TableName of) {
        try (PreparedStatement statement = session.prepare("select 1 from " + of.text() + " where 1 = 0")) {
            statement.executeQuery().close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private void create(Session session, TableName of) throws SQLException {
        for (String statement : of.inScript(read(location(of))).split(";", -1)) {
            if (!statement.isBlank()) {
                try (PreparedStatement prepared = session.prepare(statement)) {
                    prepared.execute();
                }
            }
        }
    }

    private static String read(String location) {
        try (InputStream script = JdbcSchema.class.getClassLoader().getResourceAsStream(location)) {
            if (script == null) {
                throw new IllegalStateException("The class path lacks " + location);
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + location, e);
        }
    }

    /**
     * Writes, reads, changes and removes a record, and adds one to the archive, in a transaction that is rolled back.
     *
     * @throws UnusableTableException if one of that is not possible, or if the table accepts the same id twice
     */
    public void verify() {
        check(table, this::trial);
        if (archive != null) {
            check(archive, this::archiveTrial);
        }
    }

    private void check(TableName of, Trial trial) {
        store.own("Checking table " + of.text(), (dialect, session) -> {
            Optional<String> flaw;
            try {
                flaw = dialect.readsCommitted()
                        ? session.readCommitted(own -> own.rolledBack(tried -> trial.flaw(dialect, tried)))
                        : session.rolledBack(tried -> trial.flaw(dialect, tried));
            } catch (SQLException e) {
                throw unusable(session, of, e);
            }
            if (flaw.isEmpty()) {
                flaw = dialect.flawOfTable(session, of);
            }
            if (flaw.isPresent()) {
                throw unusable(session, of, flaw.get(), null);
            }
            return true;
        });
    }

    /** What is wrong with the table. */
    private Optional<String> trial(Dialect dialect, Session session) throws SQLException {
        ClaimRequest request = trialRequest();
        StoredResult result = StoredResult.value("trial", new byte[LARGE_RESULT]);
        store(dialect, session, request, result);
        Row row = dialect.read(session, request.id());
        if (row == null || !Objects.equals(row.toRecord().result(), result)) {
            return Optional.of("does not give back what is stored in it");
        }
        if (!dialect.remove(session, request.id())) {
            return Optional.of("keeps what is removed from it");
        }
        store(dialect, session, request, result);
        return acceptsTwice(session, request.id())
                ? Optional.of("accepts the same id twice: id has to be its primary key")
                : Optional.empty();
    }

    private static ClaimRequest trialRequest() {
        UUID random = UUID.randomUUID();
        return new ClaimRequest(
                RecordId.of("trial", "", random.toString()),
                "o".repeat(190),
                Guarantee.AT_LEAST_ONCE,
                new Owner(random),
                new Fingerprint("s".repeat(32), "d".repeat(64)),
                Duration.ofHours(1),
                Duration.ofHours(1),
                null);
    }

    private static void store(Dialect dialect, Session session, ClaimRequest request, StoredResult result)
            throws SQLException {
        dialect.claimInOpen(session, request, Entry.heldByTransaction(request));
        dialect.completeInTransaction(session, new Lease(request, 1), Entry.done(request, result, request.retention()));
    }

    /** What is wrong with the archive. */
    private Optional<String> archiveTrial(Dialect dialect, Session session) throws SQLException {
        ClaimRequest request = trialRequest();
        store(dialect, session, request, StoredResult.value("trial", new byte[LARGE_RESULT]));
        String sql = ARCHIVE.formatted(
                table.text(), Row.COLUMNS, Objects.requireNonNull(archive).text());
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setBytes(1, request.id().bytes());
            return statement.executeUpdate() == 1 ? Optional.empty() : Optional.of("does not take a record");
        }
    }

    private boolean acceptsTwice(Session session, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(COPY.formatted(table.text(), Row.COLUMNS))) {
            statement.setBytes(1, id.bytes());
            statement.executeUpdate();
            return true;
        } catch (SQLException e) {
            if (SqlFailures.isDuplicate(e)) {
                return false;
            }
            throw e;
        }
    }

    private SQLException unusable(Session session, TableName of, SQLException failure) throws SQLException {
        String flaw = flaw(failure);
        if (flaw == null && SqlFailures.outside("", failure) instanceof StoreUnavailableException) {
            return failure;
        }
        throw unusable(
                session, of, flaw == null ? "cannot be used (SQLSTATE " + failure.getSQLState() + ")" : flaw, failure);
    }

    private static @Nullable String flaw(SQLException failure) {
        String ofMySql = flawInMySql(failure.getErrorCode());
        if (ofMySql != null) {
            return ofMySql;
        }
        return switch (String.valueOf(failure.getSQLState())) {
            case "42P01", "42S02", "42S03", "42S04" -> "is missing";
            case "3F000", "90079" -> "is in a schema that does not exist";
            case "42501", "90096" -> "may not be used by this user, who lacks a right on it or on its schema";
            case "42601", "42000", "42001" -> "has a name that means something else in SQL";
            case "42703", "42S22" -> "lacks a column";
            case "42P10" -> "has no primary key on its column id";
            default -> null;
        };
    }

    // MariaDB and MySQL: their SQLSTATE is the same for nearly all of these.
    private static @Nullable String flawInMySql(int code) {
        return switch (code) {
            case 1044, 1142, 1143, 1227 -> "may not be used by this user, who lacks a right on it or on its schema";
            case 1049 -> "is in a schema that does not exist";
            case 1665 ->
                "cannot be written at READ COMMITTED, because binlog_format is STATEMENT: it has to be ROW or MIXED";
            default -> null;
        };
    }

    private UnusableTableException unusable(Session session, TableName of, String flaw, @Nullable SQLException failure)
            throws SQLException {
        Connection connection = session.connection();
        String name = of.text();
        String schema = of.schema() != null ? of.schema() : connection.getSchema();
        if (schema == null || schema.isEmpty()) {
            schema = connection.getCatalog();
        }
        return new UnusableTableException(
                "Table " + name + " (schema " + schema + ", user "
                        + connection.getMetaData().getUserName() + ", "
                        + store.database().dialect().name() + ") " + flaw,
                "To create it:"
                        + "\n - set idempotency.jdbc.initialize-schema=always, or"
                        + "\n - run " + location(of) + " of the jar idempotency-jdbc, or"
                        + "\n - with Flyway, copy " + migrationLocation(of)
                        + " of that jar to your migrations, under your next version, or"
                        + "\n - with Liquibase, add <sqlFile path=\"" + migrationLocation(of) + "\"/> to a change set."
                        + "\nThe user needs "
                        + (of.use() == TableName.Use.ARCHIVE ? "INSERT" : "SELECT, INSERT, UPDATE and DELETE")
                        + " on it.",
                failure);
    }

    /** Settings of the database that weaken the durability of a commit, each with its consequence; empty for none. */
    public List<String> durabilityWarnings() {
        return store.own("Reading the settings of the database", Dialect::durabilityWarnings);
    }

    /** Tries a table out in a transaction that will be rolled back. */
    @FunctionalInterface
    private interface Trial {

        Optional<String> flaw(Dialect dialect, Session session) throws SQLException;
    }
}
