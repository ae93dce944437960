/** The JDBC store with its dialects and schema files. */
@NullMarked
package io.idempotency.jdbc;

import org.jspecify.annotations.NullMarked;
