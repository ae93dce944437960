package io.idempotency.jdbc;

class MariaDbSqlFailuresTests extends SqlFailuresTests {}
