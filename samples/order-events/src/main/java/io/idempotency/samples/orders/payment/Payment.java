package io.idempotency.samples.orders.payment;

import java.math.BigDecimal;
import java.time.Instant;

/** A payment that was made. */
public record Payment(long id, long orderId, String customer, BigDecimal amount, Instant paidAt) {}
