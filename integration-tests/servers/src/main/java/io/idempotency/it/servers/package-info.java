/** Servers that tests start, kill and start again, and the network in front of them. */
@NullMarked
package io.idempotency.it.servers;

import org.jspecify.annotations.NullMarked;
