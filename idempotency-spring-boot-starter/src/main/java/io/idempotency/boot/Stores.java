package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.spi.IdempotencyStore;
import java.util.Locale;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Finds the one store, or says why there is none. */
final class Stores {

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
                ? none(properties.store(), StoreModules.in(beanFactory.getBeanClassLoader()), beanFactory)
                : new IdempotencyConfigurationException(
                        "There are several idempotency stores: the beans " + String.join(", ", names),
                        "Remove all but one, or mark one as @Primary.");
    }

    private static IdempotencyConfigurationException none(
            Store store, StoreModules modules, ConfigurableListableBeanFactory beanFactory) {
        return switch (store) {
            case JDBC -> modules.jdbc() ? noDataSource() : missingModule(store, "idempotency-jdbc");
            case REDIS -> modules.redis() ? noConnectionFactory() : missingModule(store, "idempotency-redis");
            case TIERED -> noTieredStore(modules, beanFactory);
            default -> noneByItself(modules);
        };
    }

    private static IdempotencyConfigurationException noTieredStore(
            StoreModules modules, ConfigurableListableBeanFactory beanFactory) {
        if (!modules.jdbc() || !modules.redis()) {
            return missingModule(
                    Store.TIERED,
                    modules.jdbc()
                            ? "idempotency-redis"
                            : modules.redis() ? "idempotency-jdbc" : "idempotency-jdbc and idempotency-redis");
        }
        return beanFactory.getBeanNamesForType(javax.sql.DataSource.class, true, false).length == 0
                ? noDataSource()
                : noConnectionFactory();
    }

    private static IdempotencyConfigurationException noneByItself(StoreModules modules) {
        if (modules.jdbc() && modules.redis()) {
            return new IdempotencyConfigurationException(
                    "The application has two store modules, idempotency-jdbc and idempotency-redis, and idempotency.store is not set",
                    "Set idempotency.store to jdbc (records in your database), redis (records in Redis) or tiered (records in your"
                            + " database, Redis before it), or remove one of the modules.");
        }
        if (modules.jdbc()) {
            return noDataSource();
        }
        return modules.redis()
                ? noConnectionFactory()
                : new IdempotencyConfigurationException(
                        "There is no idempotency store: the application has no store module",
                        "Add the dependency idempotency-jdbc to keep records in your database or idempotency-redis to keep them in"
                                + " Redis, " + OWN_STORE + ".");
    }

    private static IdempotencyConfigurationException missingModule(Store store, String module) {
        return IdempotencyConfigurationException.ofProperty(
                "idempotency.store",
                store.name().toLowerCase(Locale.ROOT),
                "its module is not there",
                "Add the dependency " + module + ", or set another store.");
    }

    private static IdempotencyConfigurationException noDataSource() {
        return new IdempotencyConfigurationException(
                "There is no idempotency store: the application has the module idempotency-jdbc, but no DataSource bean",
                "Configure a DataSource (for example spring.datasource.url), " + OWN_STORE + ".");
    }

    private static IdempotencyConfigurationException noConnectionFactory() {
        return new IdempotencyConfigurationException(
                "There is no idempotency store: the application has the module idempotency-redis, but no RedisConnectionFactory bean",
                "Add the starter for Spring Data Redis (spring-boot-starter-data-redis), which makes one, or "
                        + OWN_STORE + ".");
    }
}
