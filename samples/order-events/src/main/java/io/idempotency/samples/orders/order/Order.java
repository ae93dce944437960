package io.idempotency.samples.orders.order;

import java.math.BigDecimal;
import java.time.Instant;

/** An order that was placed. */
public record Order(long id, String customer, BigDecimal amount, Instant placedAt) {}
