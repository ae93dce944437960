package io.idempotency.boot;

import io.idempotency.StoreUnavailableException;
import io.idempotency.boot.IdempotencyProperties.Jdbc;
import io.idempotency.boot.IdempotencyProperties.Jdbc.InitializeSchema;
import io.idempotency.jdbc.ClaimMode;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.JdbcSchema;
import io.idempotency.jdbc.UnsupportedDatabaseException;
import io.idempotency.jdbc.UnusableTableException;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.util.ClassUtils;

/** Makes the JDBC store by the properties and sees to its table. */
final class JdbcStores {

    private static final Logger log = LoggerFactory.getLogger(JdbcStores.class);

    // A module of its own since Spring Boot 4.
    private static final boolean KNOWS_EMBEDDED = ClassUtils.isPresent(
            "org.springframework.boot.jdbc.EmbeddedDatabaseConnection", JdbcStores.class.getClassLoader());

    private final ListableBeanFactory beanFactory;
    private final Jdbc properties;

    JdbcStores(ListableBeanFactory beanFactory, Jdbc properties) {
        this.beanFactory = beanFactory;
        this.properties = properties;
    }

    /** @param qualified the DataSource that the application has marked */
    JdbcIdempotencyStore store(@Nullable DataSource qualified) {
        DataSource dataSource = dataSource(qualified);
        JdbcIdempotencyStore store = builder(dataSource)
                .claimMode(ClaimMode.valueOf(properties.claimMode().name()))
                .queryTimeout(properties.queryTimeout())
                .build();
        prepare(store.schema(), dataSource);
        return store;
    }

    private JdbcIdempotencyStore.Builder builder(DataSource dataSource) {
        JdbcIdempotencyStore.Builder builder = JdbcIdempotencyStore.builder(dataSource);
        named("idempotency.jdbc.table-name", properties.tableName(), builder::tableName);
        if (properties.archive().enabled()) {
            named("idempotency.jdbc.archive.table-name", properties.archive().tableName(), builder::archiveTableName);
        }
        return builder;
    }

    private static void named(String property, String name, Consumer<String> setting) {
        try {
            setting.accept(name);
        } catch (IllegalArgumentException e) {
            throw IdempotencyConfigurationException.ofProperty(property, name, "cannot be used", e.getMessage() + ".");
        }
    }

    private DataSource dataSource(@Nullable DataSource qualified) {
        String name = properties.dataSource();
        if (name != null) {
            return named(name);
        }
        DataSource only = qualified == null
                ? beanFactory.getBeanProvider(DataSource.class).getIfUnique()
                : qualified;
        if (only == null) {
            throw new IdempotencyConfigurationException(
                    "There are several DataSource beans and none of them is primary: " + names(),
                    "Set idempotency.jdbc.data-source to the one that holds the idempotency records, or mark it with"
                            + " @IdempotencyDataSource.");
        }
        return only;
    }

    private DataSource named(String name) {
        try {
            return beanFactory.getBean(name, DataSource.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw IdempotencyConfigurationException.ofProperty(
                    "idempotency.jdbc.data-source",
                    name,
                    "is not the name of a DataSource bean",
                    "There are: " + names() + ".");
        }
    }

    private String names() {
        return String.join(", ", beanFactory.getBeanNamesForType(DataSource.class));
    }

    private void prepare(JdbcSchema schema, DataSource dataSource) {
        try {
            if (createsTable(dataSource)) {
                schema.createIfMissing();
            }
            schema.verify();
            schema.durabilityWarnings().forEach(log::warn);
        } catch (StoreUnavailableException e) {
            log.warn("The database cannot be reached, so the table of the idempotency records was not checked", e);
        } catch (UnusableTableException e) {
            throw new IdempotencyConfigurationException(e.problem(), e.remedy(), e);
        } catch (UnsupportedDatabaseException e) {
            throw new IdempotencyConfigurationException(
                    String.valueOf(e.getMessage()),
                    "Set idempotency.jdbc.data-source to a DataSource of such a database, or choose another store.",
                    e);
        }
    }

    private boolean createsTable(DataSource dataSource) {
        return properties.initializeSchema() == InitializeSchema.ALWAYS
                || properties.initializeSchema() == InitializeSchema.EMBEDDED
                        && KNOWS_EMBEDDED
                        && EmbeddedDatabaseConnection.isEmbedded(dataSource);
    }
}
