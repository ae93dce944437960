package io.idempotency.jdbc;

@OnMySql
class MySqlProbeTests extends ProbeTests {}
