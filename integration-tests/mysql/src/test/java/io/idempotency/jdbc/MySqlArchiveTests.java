package io.idempotency.jdbc;

@OnMySql
class MySqlArchiveTests extends ArchiveTests {}
