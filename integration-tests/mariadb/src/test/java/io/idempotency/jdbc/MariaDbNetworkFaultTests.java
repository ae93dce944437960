package io.idempotency.jdbc;

class MariaDbNetworkFaultTests extends NetworkFaultTests {}
