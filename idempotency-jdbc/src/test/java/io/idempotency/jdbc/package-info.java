@NullMarked
package io.idempotency.jdbc;

import org.jspecify.annotations.NullMarked;
