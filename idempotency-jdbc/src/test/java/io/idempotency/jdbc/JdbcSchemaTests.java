package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JdbcSchemaTests {

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void theCheckOfTheTableLeavesNothingBehind(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore.builder(database.pool()).build().schema().verify();

            assertThat(database.number("select count(*) from idempotency_record"))
                    .isZero();
        }
    }
}
