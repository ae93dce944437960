package io.idempotency.jdbc;

/** MariaDB by its own driver, which counts the rows that an UPDATE finds. */
public final class MariaDbDriver implements TestServer {

    static final String NAME = "MariaDB";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String newDatabase() {
        return MariaDbServer.get().newDatabase("mariadb", "");
    }
}
