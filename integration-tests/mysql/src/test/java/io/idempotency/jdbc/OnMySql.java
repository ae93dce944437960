package io.idempotency.jdbc;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIf;

/** Runs where there is a MySQL server. Nothing that Maven can bring starts one. */
@EnabledIf(
        value = "io.idempotency.jdbc.MySqlServer#exists",
        disabledReason = "No MySQL: neither does Docker answer, nor does IDEMPOTENCY_TEST_MYSQL_URL name a server")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface OnMySql {}
