package io.idempotency.it.payments.child;

import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A data source all of whose calls to the database pass the {@link Failpoints}. */
final class FailpointDataSource extends DelegatingDataSource {

    private static final Set<String> CONNECTION_CALLS = Set.of("commit", "rollback", "setAutoCommit");

    FailpointDataSource(DataSource target) {
        super(target);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return proxy(Connection.class, new ConnectionCalls(obtainTargetDataSource(), super.getConnection()));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(FailpointDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static String shortened(String sql) {
        String oneLine = sql.strip().replaceAll("\\s+", " ").toLowerCase(Locale.ROOT);
        return oneLine.length() <= 70 ? oneLine : oneLine.substring(0, 70) + "...";
    }

    private record ConnectionCalls(DataSource pool, Connection target) implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            String name = method.getName();
            if (name.equals("equals") && arguments != null) {
                return proxy == arguments[0];
            }
            if (CONNECTION_CALLS.contains(name)) {
                String call = arguments == null ? name : name + " " + arguments[0];
                return Failpoints.around(
                        call, () -> FailpointDataSource.invoke(target, method, arguments), () -> lose(pool, target));
            }
            Object result = FailpointDataSource.invoke(target, method, arguments);
            if (result instanceof Statement statement) {
                String sql = arguments != null && arguments[0] instanceof String text ? text : "";
                return statementProxy(new StatementCalls(statement, pool, target, sql));
            }
            return result;
        }

        private static Statement statementProxy(StatementCalls calls) {
            if (calls.target() instanceof CallableStatement) {
                return proxy(CallableStatement.class, calls);
            }
            if (calls.target() instanceof PreparedStatement) {
                return proxy(PreparedStatement.class, calls);
            }
            return proxy(Statement.class, calls);
        }
    }

    private record StatementCalls(Statement target, DataSource pool, Connection connection, String sql)
            implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            String name = method.getName();
            if (name.equals("equals") && arguments != null) {
                return proxy == arguments[0];
            }
            if (name.startsWith("execute")) {
                String text = arguments != null && arguments[0] instanceof String own ? own : sql;
                return Failpoints.around(
                        shortened(text),
                        () -> FailpointDataSource.invoke(target, method, arguments),
                        () -> lose(pool, connection));
            }
            return FailpointDataSource.invoke(target, method, arguments);
        }
    }

    /** Closes the connection to the database, and lets the pool know, as it does by the errors of a real loss. */
    private static void lose(DataSource pool, Connection connection) throws SQLException {
        connection.unwrap(Connection.class).close();
        pool.unwrap(HikariDataSource.class).evictConnection(connection);
    }
}
