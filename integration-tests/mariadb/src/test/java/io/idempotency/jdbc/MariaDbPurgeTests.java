package io.idempotency.jdbc;

class MariaDbPurgeTests extends PurgeTests {}
