package io.idempotency.samples.payments;

import java.math.BigDecimal;

/** An account and what is left on it. */
public record Account(String name, BigDecimal balance) {}
