package io.idempotency.jdbc;

import io.idempotency.it.servers.CrashablePostgres;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

// Case 63
class PostgreSqlRestartTests {

    @TempDir
    Path data;

    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void killedServerCostsNoEffectAndNoRestartOfTheApplication(ClaimMode mode) {
        try (CrashablePostgres server = new CrashablePostgres(data);
                TestDatabase database = TestDatabase.at(server.url())) {
            RestartScenario.run(database, mode, server::kill, server::restart);
        }
    }
}
