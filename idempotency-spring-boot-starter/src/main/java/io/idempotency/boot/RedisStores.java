package io.idempotency.boot;

import io.idempotency.redis.RedisIdempotencyStore;
import io.idempotency.redis.RedisResultCache;
import io.idempotency.redis.RedisServerChecks;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Makes the Redis store, or the cache of the tiered store, by the properties, and says what is wrong with its server. */
final class RedisStores {

    private static final Logger log = LoggerFactory.getLogger(RedisStores.class);

    private final ListableBeanFactory beanFactory;
    private final IdempotencyProperties properties;

    RedisStores(ListableBeanFactory beanFactory, IdempotencyProperties properties) {
        this.beanFactory = beanFactory;
        this.properties = properties;
    }

    RedisIdempotencyStore store() {
        RedisIdempotencyStore store;
        try {
            store = RedisIdempotencyStore.builder(connectionFactory())
                    .keyPrefix(properties.redis().keyPrefix())
                    .waitReplicas(properties.redis().waitReplicas())
                    .build();
        } catch (IllegalStateException e) {
            throw noReplicas(e);
        }
        RedisServerChecks.of(store, shortestLease(properties)).warnings().forEach(log::warn);
        return store;
    }

    RedisResultCache cache() {
        RedisResultCache cache;
        try {
            cache = RedisResultCache.builder(connectionFactory())
                    .keyPrefix(properties.redis().keyPrefix())
                    .waitReplicas(properties.redis().waitReplicas())
                    .build();
        } catch (IllegalStateException e) {
            throw noReplicas(e);
        }
        RedisServerChecks.of(cache).warnings().forEach(log::warn);
        return cache;
    }

    private IdempotencyConfigurationException noReplicas(IllegalStateException e) {
        return IdempotencyConfigurationException.ofProperty(
                "idempotency.redis.wait-replicas",
                properties.redis().waitReplicas(),
                "does not work on a Redis cluster, where WAIT cannot be sent to the node of the record",
                "Set it to 0.",
                e);
    }

    /** What health says about the server. */
    static Map<String, Object> details(RedisIdempotencyStore store, IdempotencyProperties properties) {
        RedisServerChecks checks = RedisServerChecks.of(store, shortestLease(properties));
        Map<String, Object> details = new LinkedHashMap<>();
        checks.version().ifPresent(version -> details.put("redis.version", version));
        checks.maxmemoryPolicy().ifPresent(policy -> details.put("redis.maxmemory-policy", policy));
        if (!checks.warnings().isEmpty()) {
            details.put("redis.warnings", checks.warnings());
        }
        return details;
    }

    private static Duration shortestLease(IdempotencyProperties properties) {
        return Stream.concat(
                        Stream.of(properties.lease()),
                        properties.operations().values().stream()
                                .map(IdempotencyProperties.Operation::lease)
                                .filter(Objects::nonNull))
                .min(Duration::compareTo)
                .orElse(properties.lease());
    }

    private RedisConnectionFactory connectionFactory() {
        String name = properties.redis().connectionFactory();
        if (name != null) {
            return named(name);
        }
        RedisConnectionFactory only =
                beanFactory.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
        if (only == null) {
            throw new IdempotencyConfigurationException(
                    "There are several RedisConnectionFactory beans and none of them is primary: " + names(),
                    "Set idempotency.redis.connection-factory to the one for the idempotency records.");
        }
        return only;
    }

    private RedisConnectionFactory named(String name) {
        try {
            return beanFactory.getBean(name, RedisConnectionFactory.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw IdempotencyConfigurationException.ofProperty(
                    "idempotency.redis.connection-factory",
                    name,
                    "is not the name of a RedisConnectionFactory bean",
                    "There are: " + names() + ".");
        }
    }

    private String names() {
        return String.join(", ", beanFactory.getBeanNamesForType(RedisConnectionFactory.class));
    }
}
