/** The store SPI and the interfaces a user may implement. */
@NullMarked
package io.idempotency.spi;

import org.jspecify.annotations.NullMarked;
