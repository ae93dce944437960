/** Auto-configuration, properties and failure analyzers. */
@NullMarked
package io.idempotency.boot;

import org.jspecify.annotations.NullMarked;
