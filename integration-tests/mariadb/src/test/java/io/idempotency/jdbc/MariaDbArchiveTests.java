package io.idempotency.jdbc;

class MariaDbArchiveTests extends ArchiveTests {}
