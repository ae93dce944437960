/** Results and arguments as JSON, on Jackson 3 or Jackson 2. */
@NullMarked
package io.idempotency.spring.json;

import org.jspecify.annotations.NullMarked;
