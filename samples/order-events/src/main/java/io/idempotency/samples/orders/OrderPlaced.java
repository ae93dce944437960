package io.idempotency.samples.orders;

import java.math.BigDecimal;
import java.time.Instant;

/** An order was placed. Told at least once. */
public record OrderPlaced(long orderId, String customer, BigDecimal amount, Instant placedAt) {

    public static final String TOPIC = "orders";
}
