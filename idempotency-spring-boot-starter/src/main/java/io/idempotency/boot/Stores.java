package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.spi.IdempotencyStore;
import java.util.Locale;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Finds the one store, or says why there is none. */
final class Stores {

    private static final String JDBC = "io.idempotency.jdbc.JdbcIdempotencyStore";
    private static final String OWN_STORE =
            "give a bean of type IdempotencyStore, or set idempotency.store=in-memory for a test";

    private Stores() {}

    static IdempotencyStore only(ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties) {
        IdempotencyStore unique =
                beanFactory.getBeanProvider(IdempotencyStore.class).getIfUnique();
        if (unique != null) {
            return unique;
        }
        String[] names = beanFactory.getBeanNamesForType(IdempotencyStore.class);
        throw names.length == 0
                ? none(properties.store(), ClassUtils.isPresent(JDBC, beanFactory.getBeanClassLoader()))
                : new IdempotencyConfigurationException(
                        "There are several idempotency stores: the beans " + String.join(", ", names),
                        "Remove all but one, or mark one as @Primary.");
    }

    private static IdempotencyConfigurationException none(Store store, boolean jdbc) {
        String value = store.name().toLowerCase(Locale.ROOT);
        return switch (store) {
            case REDIS -> missingModule(value, "idempotency-redis");
            case TIERED -> missingModule(value, jdbc ? "idempotency-redis" : "idempotency-jdbc and idempotency-redis");
            case JDBC -> jdbc ? noDataSource() : missingModule(value, "idempotency-jdbc");
            default ->
                jdbc
                        ? noDataSource()
                        : new IdempotencyConfigurationException(
                                "There is no idempotency store: the application has no store module",
                                "Add the dependency idempotency-jdbc to keep records in your database, " + OWN_STORE
                                        + ".");
        };
    }

    private static IdempotencyConfigurationException missingModule(String value, String module) {
        return IdempotencyConfigurationException.ofProperty(
                "idempotency.store",
                value,
                "its module is not there",
                "Add the dependency " + module + ", or set another store.");
    }

    private static IdempotencyConfigurationException noDataSource() {
        return new IdempotencyConfigurationException(
                "There is no idempotency store: the application has the module idempotency-jdbc, but no DataSource bean",
                "Configure a DataSource (for example spring.datasource.url), " + OWN_STORE + ".");
    }
}
