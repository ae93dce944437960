package io.idempotency.samples.payments;

import io.idempotency.test.HttpConformanceContract;
import io.idempotency.test.HttpTarget;
import java.net.URI;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** What a client of the payments may expect, by the IETF draft. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "spring.datasource.url=jdbc:h2:mem:payments;MODE=PostgreSQL")
class PaymentsConformanceTests extends HttpConformanceContract {

    @LocalServerPort
    private int port;

    @Override
    protected HttpTarget target() {
        return HttpTarget.post(
                URI.create("http://localhost:" + port + "/payments"),
                "{\"account\":\"conformance\",\"amount\":1,\"currency\":\"EUR\"}",
                "{\"account\":\"conformance\",\"amount\":2,\"currency\":\"EUR\"}");
    }
}
