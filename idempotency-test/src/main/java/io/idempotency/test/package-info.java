/** The contract kit that every store must pass, and test tools for users. */
@NullMarked
package io.idempotency.test;

import org.jspecify.annotations.NullMarked;
