package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import io.idempotency.spring.aop.IdempotentMethods;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** EXACTLY_ONCE unless a method says otherwise, on the JDBC store in the database of whoever imports this. */
@Configuration(proxyBeanMethods = false)
@Import(LibraryConfiguration.class)
class ExactlyOnceConfiguration {

    /** A database of its own. */
    static DataSource h2() {
        return new EmbeddedDatabaseBuilder()
                .setType(EmbeddedDatabaseType.H2)
                .generateUniqueName(true)
                .build();
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource dataSource) {
        return new JdbcTransactionManager(dataSource);
    }

    @Bean
    IdempotencyEngine engine(DataSource dataSource) {
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(dataSource).build();
        store.schema().createIfMissing();
        return IdempotencyEngine.on(store).build();
    }

    @Bean
    IdempotentMethods idempotentMethods(PlatformTransactionManager manager, IdempotencyEngine engine) {
        return new TestMethods(
                Guarantee.EXACTLY_ONCE,
                method -> new SpringBusinessTransactions(
                        manager, new DefaultTransactionAttribute(), (JdbcIdempotencyStore) engine.store()));
    }
}
