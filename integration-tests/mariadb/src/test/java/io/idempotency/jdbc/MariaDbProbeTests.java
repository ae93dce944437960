package io.idempotency.jdbc;

class MariaDbProbeTests extends ProbeTests {}
