package io.idempotency.jdbc;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Which data source a proxy stands for. */
final class DataSources {

    private DataSources() {}

    /** Whether connections of both come from the same place. */
    static boolean same(DataSource one, DataSource other) {
        DataSource oneTarget = target(one);
        DataSource otherTarget = target(other);
        return oneTarget == otherTarget
                || (!isRouting(one)
                        && !isRouting(other)
                        && (wraps(oneTarget, otherTarget) || wraps(otherTarget, oneTarget)));
    }

    /** Whether it sends connections to several places. */
    static boolean isRouting(DataSource dataSource) {
        return unwrap(target(dataSource), AbstractRoutingDataSource.class) != null;
    }

    /** The one below every proxy that hands out the connection of the open transaction. */
    static DataSource outsideOfTransactions(DataSource dataSource) {
        DataSource outside = dataSource;
        DataSource layer = dataSource;
        while (layer instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
            layer = proxy.getTargetDataSource();
            if (proxy instanceof TransactionAwareDataSourceProxy) {
                outside = layer;
            }
        }
        return outside;
    }

    private static DataSource target(DataSource dataSource) {
        DataSource target = dataSource;
        while (target instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
            target = proxy.getTargetDataSource();
        }
        return target;
    }

    // Proxies that are not Spring's are asked by the means that JDBC has for it.
    private static boolean wraps(DataSource proxy, DataSource target) {
        return unwrap(proxy, target.getClass()) == target;
    }

    private static @Nullable Object unwrap(DataSource proxy, Class<?> type) {
        try {
            return proxy.isWrapperFor(type) ? proxy.unwrap(type) : null;
        } catch (SQLException e) {
            return null;
        }
    }
}
