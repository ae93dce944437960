package io.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** The wires between the store and its database, on which things can happen. */
class Wires extends DelegatingDataSource {

    Wires(DataSource target) {
        super(target);
    }

    /** A commit of a connection in a transaction. */
    void onCommit(Connection connection) throws SQLException {
        connection.commit();
    }

    /** Whether a call of the connection gets through. */
    boolean passes(String method, Connection connection) {
        return true;
    }

    /** A statement is about to be sent. */
    void onExecute(String sql) throws SQLException {}

    /** Something failed. */
    SQLException onFailure(SQLException failure) {
        return failure;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return JdbcProxy.of(Connection.class, (method, arguments) -> {
            if (method.getName().equals("commit")) {
                onCommit(connection);
                return null;
            }
            if (!passes(method.getName(), connection)) {
                return method.getName().equals("isClosed") ? true : null;
            }
            Object result = call(connection, method, arguments);
            if (method.getName().equals("createStatement")) {
                return statement(Statement.class, (Statement) result, null);
            }
            if (method.getName().equals("prepareStatement")) {
                return statement(PreparedStatement.class, (PreparedStatement) result, (String) arguments[0]);
            }
            return result;
        });
    }

    private <S extends Statement> S statement(Class<S> type, S statement, @Nullable String sql) {
        return JdbcProxy.of(type, (method, arguments) -> {
            if (method.getName().startsWith("execute")) {
                onExecute(sql != null ? sql : (String) arguments[0]);
            }
            return call(statement, method, arguments);
        });
    }

    private @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return JdbcProxy.call(target, method, arguments);
        } catch (SQLException failure) {
            throw onFailure(failure);
        }
    }
}
