/** Every rule of an idempotent execution, without Spring and without I/O of its own. */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
