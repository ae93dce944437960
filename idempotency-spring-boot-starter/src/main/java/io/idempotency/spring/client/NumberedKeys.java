package io.idempotency.spring.client;

import io.hypersistence.tsid.TSID;
import java.time.Instant;

/** Ids of time, node and counter: 42, 10 and 12 bits. */
final class NumberedKeys {

    private static final int NODE_BITS = 10;
    private static final int NODES = 1 << NODE_BITS;
    private static final Instant EPOCH_OF_SNOWFLAKE = Instant.ofEpochMilli(1_288_834_974_657L);

    private NumberedKeys() {}

    static IdempotencyKeyGenerator tsid(int node) {
        TSID.Factory factory = of(node).build();
        return () -> factory.generate().toString();
    }

    static IdempotencyKeyGenerator snowflake(int node) {
        TSID.Factory factory = of(node).withCustomEpoch(EPOCH_OF_SNOWFLAKE).build();
        return () -> Long.toString(factory.generate().toLong());
    }

    private static TSID.Factory.Builder of(int node) {
        if (node < 0 || node >= NODES) {
            throw new IllegalArgumentException("The node number must be from 0 to " + (NODES - 1) + ": " + node);
        }
        return TSID.Factory.builder().withNodeBits(NODE_BITS).withNode(node);
    }
}
