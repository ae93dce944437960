/** EXACTLY_ONCE with Spring Data JPA: the record is there if and only if the business row is. */
@NullMarked
package io.idempotency.it.jpa;

import org.jspecify.annotations.NullMarked;
