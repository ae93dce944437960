package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the in-memory store, which is only there when it is asked for.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnIdempotencyStore(Store.IN_MEMORY)
public final class IdempotencyInMemoryAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(IdempotencyInMemoryAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean(IdempotencyStore.class)
    InMemoryIdempotencyStore idempotencyStore() {
        log.warn(
                "Records are kept in the memory of this process: they are lost with it and not shared with other nodes");
        return InMemoryIdempotencyStore.onSystemClock();
    }
}
