/** One small application that runs the same library jars on every supported Spring Boot. */
@NullMarked
package io.idempotency.it.matrix;

import org.jspecify.annotations.NullMarked;
