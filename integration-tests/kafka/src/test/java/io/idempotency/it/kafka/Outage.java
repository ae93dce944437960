package io.idempotency.it.kafka;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.stereotype.Component;

/** A database that cannot be reached for a while. */
@Component
class Outage implements BeanPostProcessor {

    private volatile boolean lasts;

    void begin() {
        lasts = true;
    }

    void end() {
        lasts = false;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (!(bean instanceof DataSource reachable)) {
            return bean;
        }
        return new DelegatingDataSource(reachable) {
            @Override
            public Connection getConnection() throws SQLException {
                if (lasts) {
                    throw new SQLTransientConnectionException("the database cannot be reached");
                }
                return super.getConnection();
            }
        };
    }
}
