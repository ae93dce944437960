package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.env.MockEnvironment;

class WaitingRequestsTests {

    @Test
    void areSixtyFourAtMost() {
        assertThat(WaitingRequests.atOnce(new MockEnvironment())).isEqualTo(64);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "10, 5", "128, 64", "500, 64"})
    void leaveHalfOfTheThreadsToOthers(String threads, int atOnce) {
        assertThat(WaitingRequests.atOnce(new MockEnvironment().withProperty("server.tomcat.threads.max", threads)))
                .isEqualTo(atOnce);
        assertThat(WaitingRequests.atOnce(new MockEnvironment().withProperty("server.jetty.threads.max", threads)))
                .isEqualTo(atOnce);
    }

    @Test
    void costNothingOnVirtualThreads() {
        MockEnvironment environment = new MockEnvironment()
                .withProperty("server.tomcat.threads.max", "4")
                .withProperty("spring.threads.virtual.enabled", "true");

        assertThat(WaitingRequests.atOnce(environment)).isEqualTo(64);
    }
}
