package io.idempotency.jdbc;

class MariaDbFailpointTests extends FailpointTests {}
