package io.idempotency.boot;

import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.support.TieredIdempotencyStore;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whether the store answers. Spring Boot 3 and 4 have different types for that; each has a class that translates this one. */
final class StoreHealth {

    private static final RecordId NOBODYS = RecordId.of("idempotency-health", "", "");

    private final IdempotencyStore store;
    private final List<StoreDetails> details;

    StoreHealth(IdempotencyStore store, List<StoreDetails> details) {
        this.store = store;
        this.details = details;
    }

    Answer check() {
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            store.find(NOBODYS);
            found.put("store", store.name());
            if (store instanceof TieredIdempotencyStore tiered) {
                found.put("cache", tiered.cacheAnswers() ? "answers" : "does not answer: duplicates cost more");
            }
            if (store instanceof PurgeableStore purgeable) {
                found.put("purgeLag", Durations.print(purgeable.purgeLag().truncatedTo(ChronoUnit.SECONDS)));
            }
            details.forEach(each -> found.putAll(each.current()));
            return new Answer(null, found);
        } catch (RuntimeException e) {
            found.put("store", store.name());
            return new Answer(e, found);
        }
    }

    /**
     * What was found.
     *
     * @param failure why the store does not answer; null if it does
     */
    record Answer(@Nullable Exception failure, Map<String, Object> details) {}
}
