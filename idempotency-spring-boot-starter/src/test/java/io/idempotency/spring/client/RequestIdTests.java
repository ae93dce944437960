package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

class RequestIdTests {

    private final RequestId requestId = new RequestId("requestId", "X-Request-Id");

    @Test
    void isThatOfTheLoggingContext() {
        assertThat(requestId.current()).isNull();

        String longest = "r".repeat(255);
        for (String id : new String[] {"r-1", "4bf92f35-77b3/4da6~{a3}", longest}) {
            try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", id)) {
                assertThat(requestId.current()).isEqualTo(id);
            }
        }
    }

    // Whoever sends a request may choose its id, and would write into the logs of others.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "r 1",
                "r-1\n",
                "r-1\r\nX-Admin: true",
                "r\u0000",
                "r\u001b[2J",
                "r\u007f",
                "r\u0085",
                "r\u00e9",
                "\u2028"
            })
    void isNoneWhereItIsMalformed(String id) {
        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", id)) {
            assertThat(requestId.current()).isNull();
        }
    }

    @Test
    void isNoneWhereItIsTooLong() {
        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r".repeat(256))) {
            assertThat(requestId.current()).isNull();
        }
    }
}
