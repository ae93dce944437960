package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.UnknownCallerException;
import io.idempotency.spring.aop.AmbientKey;
import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Case 121 for methods that take the key of the request: it is its caller's. */
class HttpAmbientKeyTests {

    private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/payments");

    @BeforeEach
    void begin() {
        request.addHeader("Idempotency-Key", "k");
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
    }

    @AfterEach
    void end() {
        RequestContextHolder.resetRequestAttributes();
    }

    private AmbientKey key(AnonymousCallers anonymous, String caller) {
        request.setUserPrincipal(caller == null ? null : () -> caller);
        return new HttpAmbientKey(new TestWebSettings().anonymous(anonymous).build()).current("pay");
    }

    @Test
    void belongsToItsCaller() {
        AmbientKey alice = key(AnonymousCallers.SHARE, "alice");

        assertThat(alice.key()).isEqualTo("k");
        assertThat(key(AnonymousCallers.SHARE, "bob").scope()).isNotEqualTo(alice.scope());
        assertThat(key(AnonymousCallers.SHARE, null).scope()).isNotEqualTo(alice.scope());
        assertThat(key(AnonymousCallers.SHARE, "alice")).isEqualTo(alice);
    }

    @Test
    void isRefusedWhereItsCallerIsNotKnown() {
        assertThatThrownBy(() -> key(AnonymousCallers.REFUSE, null)).isInstanceOf(UnknownCallerException.class);
        assertThatThrownBy(() -> key(AnonymousCallers.SHARE, " ")).isInstanceOf(UnknownCallerException.class);
    }

    @Test
    void isNoneOutsideOfARequest() {
        RequestContextHolder.resetRequestAttributes();

        assertThat(key(AnonymousCallers.REFUSE, null)).isNull();
    }
}
