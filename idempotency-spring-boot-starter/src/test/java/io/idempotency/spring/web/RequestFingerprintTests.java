package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.engine.OperationSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletRequest;

class RequestFingerprintTests {

    private static final String BODY = "{\"amount\":1.50,\"items\":[{\"sku\":\"a\"},null,true]}";

    /**
     * While a deployment rolls, the nodes of two versions must make the same of the same request. What makes another fingerprint gets
     * another number in its scheme.
     */
    @ParameterizedTest
    @CsvSource({
        "RAW, http-raw/2:62245cbac0b4d97285fdad5fc2d5274fc76bb6ad601ceefa9a8d8009a5c1e9",
        "JSON, http-json/3:Xf4ch7PBIoR3x7QJ2EkZk0x2rW7vjYFDKdisNHIxgZcmWvz70w3K5iSKyC1JVBMz"
    })
    void isMadeAsEver(FingerprintScheme scheme, String kept) throws IOException {
        MockHttpServletRequest request = new MockHttpServletRequest("POST", "/payments");
        request.setQueryString("b=2&a=1");
        request.setContentType("application/json; charset=UTF-8");
        HttpOperation operation = new HttpOperation(
                OperationSettings.of("pay", Guarantee.AT_LEAST_ONCE).build(), true, scheme, null, null);

        assertThat(RequestFingerprint.of(
                                CachedRequest.of(request, BODY.getBytes(StandardCharsets.UTF_8)),
                                "k-1",
                                operation,
                                null,
                                "/payments",
                                PathContainer.parsePath("/payments"))
                        .asText())
                .isEqualTo(kept);
    }
}
