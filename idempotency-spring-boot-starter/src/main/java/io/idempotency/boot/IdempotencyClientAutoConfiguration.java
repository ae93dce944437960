package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Client;
import io.idempotency.spring.client.IdempotencyKeyGenerator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration for the keys of the application's own calls. Its clients need them whether or not the application protects what
 * it is asked itself.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyClientAutoConfiguration {

    private static final String TSID = "io.hypersistence.tsid.TSID";

    @Bean
    @ConditionalOnMissingBean
    IdempotencyKeyGenerator idempotencyKeyGenerator(
            IdempotencyProperties properties, ConfigurableListableBeanFactory beanFactory) {
        Client client = properties.client();
        Integer node = client.node();
        if (client.keys().withoutNode() || node == null) {
            return client.keys() == Client.Keys.UUID_V4
                    ? IdempotencyKeyGenerator.uuidV4()
                    : IdempotencyKeyGenerator.uuidV7();
        }
        checkLibrary(client.keys(), beanFactory.getBeanClassLoader());
        return client.keys() == Client.Keys.TSID
                ? IdempotencyKeyGenerator.tsid(node)
                : IdempotencyKeyGenerator.snowflake(node);
    }

    private static void checkLibrary(Client.Keys keys, @Nullable ClassLoader application) {
        if (!ClassUtils.isPresent(TSID, application)) {
            throw IdempotencyConfigurationException.ofProperty(
                    "idempotency.client.keys",
                    keys.text(),
                    "needs the library io.hypersistence:hypersistence-tsid, which the application does not have",
                    "Add it as a dependency, or choose uuid-v7.");
        }
    }
}
