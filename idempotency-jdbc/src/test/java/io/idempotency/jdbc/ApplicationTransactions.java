package io.idempotency.jdbc;

import java.sql.Connection;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What the application does in transactions that it has begun itself. */
final class ApplicationTransactions {

    /** At which the store takes part in them. */
    static final int[] ISOLATIONS = {
        Connection.TRANSACTION_READ_COMMITTED,
        Connection.TRANSACTION_REPEATABLE_READ,
        Connection.TRANSACTION_SERIALIZABLE
    };

    private ApplicationTransactions() {}

    static void inTransaction(DataSource dataSource, int isolation, Consumer<JdbcTemplate> work) {
        TransactionTemplate template = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        template.setIsolationLevel(isolation);
        template.executeWithoutResult(status -> work.accept(new JdbcTemplate(dataSource)));
    }

    static void add(JdbcTemplate jdbc, String row) {
        jdbc.update("insert into business (text) values (?)", row);
    }
}
