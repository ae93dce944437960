package io.idempotency.jdbc;

/** A further database server for the tests; a module that has one names it as a service. */
public interface TestServer {

    /** Product and driver, as the tests show them. */
    String name();

    /** The JDBC URL of a new, empty database, with user and password. */
    String newDatabase();
}
