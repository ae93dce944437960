/** Holds the dependency arrows between the modules and the rules of the house. */
@NullMarked
package io.idempotency.it.architecture;

import org.jspecify.annotations.NullMarked;
