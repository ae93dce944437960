package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Writes down what is sent to the database: statements by their first words, commits and rollbacks. */
final class Traffic extends DelegatingDataSource {

    private final List<String> sent = new ArrayList<>();

    Traffic(DataSource target) {
        super(target);
    }

    /** What was sent since the last call. */
    synchronized List<String> take() {
        List<String> taken = List.copyOf(sent);
        sent.clear();
        return taken;
    }

    private synchronized void note(String what) {
        sent.add(what);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return JdbcProxy.of(Connection.class, (method, arguments) -> {
            Object result = JdbcProxy.call(connection, method, arguments);
            switch (method.getName()) {
                case "commit",
                        "rollback",
                        "setSavepoint",
                        "releaseSavepoint",
                        "getTransactionIsolation",
                        "setTransactionIsolation" -> note(method.getName());
                case "createStatement" -> {
                    return statement(Statement.class, (Statement) result, null);
                }
                case "prepareStatement" -> {
                    return statement(PreparedStatement.class, (PreparedStatement) result, (String) arguments[0]);
                }
                default -> {}
            }
            return result;
        });
    }

    private <S extends Statement> S statement(Class<S> type, S statement, @Nullable String sql) {
        return JdbcProxy.of(type, (method, arguments) -> {
            if (method.getName().startsWith("execute")) {
                note(summary(sql != null ? sql : (String) arguments[0]));
            }
            return JdbcProxy.call(statement, method, arguments);
        });
    }

    private static String summary(String sql) {
        return sql.strip().split("\\s+", 2)[0];
    }
}
