package io.idempotency.jdbc;

@OnMySql
class MySqlSqlFailuresTests extends SqlFailuresTests {}
