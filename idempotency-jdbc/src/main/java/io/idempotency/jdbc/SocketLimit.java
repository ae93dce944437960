package io.idempotency.jdbc;

import io.idempotency.jdbc.Connections.Limits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A limit on the silence of a socket. A query timeout does not help where the network is gone: the driver cancels over a second
 * connection, or the server does it and cannot say so.
 */
final class SocketLimit {

    /** How much longer than the statement the socket may be silent, so that the server's own word comes first. */
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private SocketLimit() {}

    static Limits put(Connection connection, Duration timeout) throws SQLException {
        int before = connection.getNetworkTimeout();
        int wanted = Math.toIntExact(timeout.plus(MARGIN).toMillis());
        if (before != 0 && before <= wanted) {
            return () -> {};
        }
        connection.setNetworkTimeout(Runnable::run, wanted);
        return () -> connection.setNetworkTimeout(Runnable::run, before);
    }
}
