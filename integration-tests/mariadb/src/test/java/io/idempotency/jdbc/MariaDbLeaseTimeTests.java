package io.idempotency.jdbc;

class MariaDbLeaseTimeTests extends LeaseTimeTests {}
