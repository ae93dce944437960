package io.idempotency.jdbc;

class MariaDbConnectionTests extends ConnectionTests {}
