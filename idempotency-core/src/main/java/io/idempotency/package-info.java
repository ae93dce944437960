/** What applications import: the annotation, the template, the context and the exceptions. */
@NullMarked
package io.idempotency;

import org.jspecify.annotations.NullMarked;
