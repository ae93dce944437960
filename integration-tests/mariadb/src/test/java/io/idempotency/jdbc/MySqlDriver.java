package io.idempotency.jdbc;

/** MariaDB by the driver of MySQL, told to count the rows that an UPDATE changes. */
public final class MySqlDriver implements TestServer {

    static final String NAME = "MariaDB by the MySQL driver";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String newDatabase() {
        return MariaDbServer.get().newDatabase("mysql", "&useAffectedRows=true");
    }
}
