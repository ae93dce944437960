/** The JDBC store on MySQL; in its package because the tests are shared with those of the other databases. */
@org.jspecify.annotations.NullUnmarked
package io.idempotency.jdbc;
