package io.idempotency.jdbc;

@OnMySql
class MySqlNetworkFaultTests extends NetworkFaultTests {}
