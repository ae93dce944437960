package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.spring.web.StoredResponse.Form;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.util.unit.DataSize;

/** What no server of these tests can show: methods of a later servlet API, and limits of the buffer. */
class BufferedResponseTests {

    private final MockHttpServletResponse real = new MockHttpServletResponse();
    private final BufferedResponse response = new BufferedResponse(
            real,
            new TestWebSettings()
                    .maxResponseSize(DataSize.ofBytes(10))
                    .maxSpillSize(DataSize.ofBytes(20))
                    .build());
    private final ReplayableHeaders replayable = new ReplayableHeaders(List.of());

    /** Servlet 6.1: its wrapper would redirect the real response at once. */
    @Test
    void holdsBackARedirectWithAnotherStatus() throws IOException {
        response.getWriter().print("gone");
        response.sendRedirect("/there", 307);

        assertThat(real.isCommitted()).isFalse();
        assertThat(response.isCommitted()).isTrue();
        StoredResponse stored = response.capture(replayable, true);
        assertThat(stored.status()).isEqualTo(307);
        assertThat(stored.header("Location")).isEqualTo("/there");
        assertThat(stored.body()).isEmpty();
        response.send();
        assertThat(real.getStatus()).isEqualTo(307);
        assertThat(real.getHeader("Location")).isEqualTo("/there");
    }

    /** Servlet 6.1. */
    @Test
    void holdsBackARedirectThatKeepsItsBody() throws IOException {
        response.getWriter().print("kept");
        response.sendRedirect("/there", false);

        assertThat(response.capture(replayable, true).body()).isEqualTo("kept".getBytes(StandardCharsets.US_ASCII));
        response.send();
        assertThat(real.getContentAsString()).isEqualTo("kept");
    }

    /** Servlet 6.1. */
    @Test
    void settlesTheEncodingWithTheWriter() throws IOException {
        response.setContentType("text/plain");
        response.setCharacterEncoding(StandardCharsets.UTF_16BE);
        response.getWriter().print("a");
        response.setCharacterEncoding(StandardCharsets.UTF_8);

        assertThat(response.getCharacterEncoding()).isEqualTo("UTF-16BE");
        assertThat(response.capture(replayable, true).body()).isEqualTo(new byte[] {0, 'a'});
    }

    @Test
    void knowsWhatItCouldNotHoldBack() throws IOException {
        response.getOutputStream().write(new byte[15]);
        assertThat(response.isWhole()).isFalse();
        assertThat(response.isIncomplete()).isFalse();

        assertThatThrownBy(() -> response.getOutputStream().write(new byte[6])).isInstanceOf(IOException.class);
        assertThat(response.isIncomplete()).isTrue();
        response.resetBuffer();
        assertThat(response.isIncomplete()).isTrue();
    }

    /** A print writer tells nobody. */
    @Test
    void knowsWhatItCouldNotHoldBackFromAWriter() throws IOException {
        PrintWriter writer = response.getWriter();
        writer.print("x".repeat(21));
        writer.flush();

        assertThat(response.isIncomplete()).isTrue();
    }

    @Test
    void sendsWhatWasSpilledInOrder() throws IOException {
        response.getOutputStream().write("0123456789".getBytes(StandardCharsets.US_ASCII));
        response.getOutputStream().write("abc".getBytes(StandardCharsets.US_ASCII));
        response.send();
        response.close();

        assertThat(real.getContentAsString()).isEqualTo("0123456789abc");
    }

    @Test
    void holdsBackAnErrorAndForgetsItWhenItIsDiscarded() throws IOException {
        real.setHeader("X-Before", "1");
        try (BufferedResponse other = new BufferedResponse(real, WebSettings.defaults())) {
            other.setHeader("X-After", "2");
            other.sendError(422, "no");
            assertThat(other.getStatus()).isEqualTo(422);
            assertThat(other.capture(replayable, true).form()).isEqualTo(Form.ERROR);
            assertThatThrownBy(() -> other.sendError(500)).isInstanceOf(IllegalStateException.class);

            other.discard();
            other.setStatus(202);
            other.getWriter().print("instead");
            other.send();
        }

        assertThat(real.getStatus()).isEqualTo(202);
        assertThat(real.getErrorMessage()).isNull();
        assertThat(real.getHeader("X-Before")).isEqualTo("1");
        assertThat(real.getHeader("X-After")).isNull();
        assertThat(real.getContentAsString()).isEqualTo("instead");
    }

    @Test
    void cannotSendAnythingTwice() throws IOException {
        response.getOutputStream().print("x");
        response.flushBuffer();

        assertThatThrownBy(response::reset).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(response::resetBuffer).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> response.sendRedirect("/")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(response::getWriter).isInstanceOf(IllegalStateException.class);
    }
}
