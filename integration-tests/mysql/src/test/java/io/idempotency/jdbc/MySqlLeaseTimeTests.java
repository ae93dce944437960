package io.idempotency.jdbc;

@OnMySql
class MySqlLeaseTimeTests extends LeaseTimeTests {}
