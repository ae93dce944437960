package io.idempotency.jdbc;

class MariaDbRollingDeployTests extends RollingDeployTests {}
