package io.idempotency.jdbc;

@OnMySql
class MySqlMigrationTests extends MigrationTests {}
