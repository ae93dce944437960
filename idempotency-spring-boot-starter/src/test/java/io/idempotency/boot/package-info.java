/** Tests of the auto-configuration. */
@NullMarked
package io.idempotency.boot;

import org.jspecify.annotations.NullMarked;
