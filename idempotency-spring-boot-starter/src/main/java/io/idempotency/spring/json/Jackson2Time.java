package io.idempotency.spring.json;

import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;

/** Apart, because an application may have Jackson 2 without its module for java.time. */
final class Jackson2Time {

    private Jackson2Time() {}

    static Module module() {
        return new JavaTimeModule().disable(JavaTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID);
    }
}
