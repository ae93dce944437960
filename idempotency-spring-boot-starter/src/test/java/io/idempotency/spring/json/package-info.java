/** Tests of JSON. */
package io.idempotency.spring.json;
