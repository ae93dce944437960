package io.idempotency.spring.client;

import org.jspecify.annotations.Nullable;

final class Replays {

    static final String HEADER = "Idempotent-Replayed";

    private Replays() {}

    static boolean isMarkedBy(@Nullable String value) {
        return "true".equalsIgnoreCase(value);
    }
}
