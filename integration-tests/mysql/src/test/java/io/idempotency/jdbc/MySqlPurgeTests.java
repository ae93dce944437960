package io.idempotency.jdbc;

@OnMySql
class MySqlPurgeTests extends PurgeTests {}
