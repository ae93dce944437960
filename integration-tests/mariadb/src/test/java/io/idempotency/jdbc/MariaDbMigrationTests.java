package io.idempotency.jdbc;

class MariaDbMigrationTests extends MigrationTests {}
