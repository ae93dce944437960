package io.idempotency.jdbc;

/**
 * The store does not work on this database, or not on this version of it. The message lists those that it works on.
 *
 * @since 0.1.0
 */
public final class UnsupportedDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnsupportedDatabaseException(String found) {
        super(
                "The JDBC idempotency store does not work on " + found
                        + ". It works on H2 2.3.232 or later, PostgreSQL 12 or later, MariaDB 10.6 or later and MySQL 8.0 or later");
    }
}
