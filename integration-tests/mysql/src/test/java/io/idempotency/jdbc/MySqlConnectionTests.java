package io.idempotency.jdbc;

@OnMySql
class MySqlConnectionTests extends ConnectionTests {}
