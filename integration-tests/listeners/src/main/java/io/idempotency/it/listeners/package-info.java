/** What listeners of every broker do, and where one sees what they have done. */
package io.idempotency.it.listeners;
