package io.idempotency.spi;

import java.util.UUID;

/**
 * Identity of one attempt: 128 random bits. Whoever carries the owner of a record made the write that put it there.
 *
 * @since 0.1.0
 */
public record Owner(UUID value) {}
