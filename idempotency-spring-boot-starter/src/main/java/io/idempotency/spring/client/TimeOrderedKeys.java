package io.idempotency.spring.client;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.NoArgGenerator;

final class TimeOrderedKeys implements IdempotencyKeyGenerator {

    static final IdempotencyKeyGenerator INSTANCE = new TimeOrderedKeys();

    private final NoArgGenerator generator = Generators.timeBasedEpochGenerator();

    private TimeOrderedKeys() {}

    @Override
    public String nextKey() {
        return generator.generate().toString();
    }
}
