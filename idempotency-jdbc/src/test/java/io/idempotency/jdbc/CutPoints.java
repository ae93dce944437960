package io.idempotency.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.Guarantee;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Counts what is said to the database in one call of an operation, and breaks the connection at a chosen point; with a death nothing
 * is said any more from there on, on any connection.
 */
final class CutPoints extends DelegatingDataSource {

    private final List<Step> said = new ArrayList<>();
    private final List<Connection> broken = new ArrayList<>();
    private final Guarantee guarantee;
    private final int cutAt;
    private final boolean afterwards;
    private final boolean deadly;
    private boolean dead;

    /** Breaks nothing. */
    static CutPoints none(DataSource target, Guarantee guarantee) {
        return new CutPoints(target, guarantee, 0, false, false);
    }

    /** @param cutAt number of the call, from 1 */
    CutPoints(DataSource target, Guarantee guarantee, int cutAt, boolean afterwards, boolean deadly) {
        super(target);
        this.guarantee = guarantee;
        this.cutAt = cutAt;
        this.afterwards = afterwards;
        this.deadly = deadly;
    }

    /** What each call was for, in their order. */
    synchronized List<Step> said() {
        return List.copyOf(said);
    }

    /** From now on no connection answers. */
    synchronized void die() {
        dead = true;
    }

    synchronized boolean isDead() {
        return dead;
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (isDead()) {
            throw new SQLException("cut", "08001");
        }
        Connection connection = super.getConnection();
        return JdbcProxy.of(Connection.class, (method, arguments) -> {
            if (method.getName().equals("close") && takenFromThePool(connection)) {
                return null;
            }
            if (method.getName().equals("commit")) {
                return around(connection, "commit", () -> JdbcProxy.call(connection, method, arguments));
            }
            if (isDead()
                    && !method.getName().equals("close")
                    && !method.getName().equals("isClosed")) {
                throw new SQLException("cut", "08003");
            }
            Object result = JdbcProxy.call(connection, method, arguments);
            return switch (method.getName()) {
                case "createStatement" -> statement(Statement.class, connection, (Statement) result, null);
                case "prepareStatement" ->
                    statement(PreparedStatement.class, connection, (PreparedStatement) result, (String) arguments[0]);
                default -> result;
            };
        });
    }

    // It does not look again at a connection that it has just seen alive, and would give it to the next.
    private synchronized boolean takenFromThePool(Connection connection) {
        if (broken.contains(connection) && getTargetDataSource() instanceof HikariDataSource pool) {
            pool.evictConnection(connection);
            return true;
        }
        return false;
    }

    private <S extends Statement> S statement(Class<S> type, Connection connection, S statement, @Nullable String sql) {
        return JdbcProxy.of(
                type,
                (method, arguments) -> method.getName().startsWith("execute")
                        ? around(
                                connection,
                                sql != null ? sql : (String) arguments[0],
                                () -> JdbcProxy.call(statement, method, arguments))
                        : JdbcProxy.call(statement, method, arguments));
    }

    private @Nullable Object around(Connection connection, String text, Said call) throws Throwable {
        boolean here;
        synchronized (this) {
            if (dead) {
                throw new SQLException("cut", "08003");
            }
            said.add(stepOf(text));
            here = said.size() == cutAt;
        }
        if (here && !afterwards) {
            throw cut(connection);
        }
        Object result = call.run();
        if (here) {
            throw cut(connection);
        }
        return result;
    }

    private SQLException cut(Connection connection) throws SQLException {
        if (deadly) {
            die();
        }
        connection.abort(Runnable::run);
        synchronized (this) {
            broken.add(connection);
        }
        return new SQLException("cut", "08006");
    }

    private Step stepOf(String text) {
        if (text.contains("business")) {
            return Step.WORK;
        }
        if (!said.contains(Step.WORK)) {
            return Step.CLAIM;
        }
        return text.equals("commit") && guarantee == Guarantee.EXACTLY_ONCE ? Step.COMMIT : Step.RECORD;
    }

    /** What a call is for. */
    enum Step {
        CLAIM,
        WORK,
        RECORD,
        COMMIT
    }

    private interface Said {

        @Nullable
        Object run() throws Throwable;
    }
}
