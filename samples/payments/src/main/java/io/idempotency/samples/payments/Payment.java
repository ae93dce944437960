package io.idempotency.samples.payments;

import java.math.BigDecimal;
import java.time.Instant;

/** A payment that was made. */
public record Payment(long id, String account, BigDecimal amount, String currency, String status, Instant createdAt) {}
