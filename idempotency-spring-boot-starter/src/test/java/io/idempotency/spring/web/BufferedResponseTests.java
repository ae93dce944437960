package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.spring.web.StoredResponse.Form;
import jakarta.servlet.http.Cookie;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
        Set<Path> spilled = spilledFiles();
        response.send();
        response.close();

        assertThat(real.getContentAsString()).isEqualTo("0123456789abc");
        assertThat(spilled).isNotEmpty();
        assertThat(spilledFiles()).as("its file is gone").hasSizeLessThan(spilled.size());
    }

    private static Set<Path> spilledFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("idempotency-response-"))
                    .collect(Collectors.toSet());
        }
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

    /** Case 114: nothing that a container would not have sent is kept either. */
    @Test
    void keepsNoBodyOfAnError() throws IOException {
        response.getOutputStream().print("gone");
        response.sendError(422, "no");
        response.getOutputStream().print("late");

        assertThat(response.capture(replayable, true).body()).isEmpty();
    }

    @Test
    void keepsNothingThatIsWrittenAfterTheEnd() throws IOException {
        response.getOutputStream().print("kept");
        response.getOutputStream().close();
        response.getOutputStream().print("late");

        assertThat(response.capture(replayable, true).body()).isEqualTo("kept".getBytes(StandardCharsets.US_ASCII));
    }

    /** So that whoever writes knows that nobody reads. */
    @Test
    void refusesWhatIsWrittenAfterAnotherAnswer() throws IOException {
        response.getOutputStream().print("begun");
        response.silence();

        assertThat(response.isCommitted()).isTrue();
        assertThatThrownBy(() -> response.getOutputStream().print("more")).isInstanceOf(IOException.class);
    }

    /** Case 115: as a container does it, whose own response is not committed yet. */
    @Test
    void changesNothingAfterAFlush() throws IOException {
        response.setContentType("text/plain");
        response.getOutputStream().print("x");
        response.flushBuffer();

        response.setStatus(418);
        response.setContentType("text/html");
        response.setHeader("Content-Type", "text/html");
        response.addHeader("Content-Type", "text/html");
        response.setCharacterEncoding("UTF-16");
        response.setContentLength(99);
        response.setContentLengthLong(99);
        response.setLocale(Locale.CANADA_FRENCH);
        response.addCookie(new Cookie("late", "1"));
        response.setHeader("X-Late", "1");
        response.addHeader("X-Late", "1");
        response.setIntHeader("X-Late", 1);
        response.addIntHeader("X-Late", 1);
        response.setDateHeader("X-Late", 1);
        response.addDateHeader("X-Late", 1);

        assertThat(real.isCommitted()).isFalse();
        assertThat(real.getStatus()).isEqualTo(200);
        assertThat(real.getContentType()).isEqualTo("text/plain");
        assertThat(real.getHeaderNames()).containsOnly("Content-Type");
        assertThat(response.capture(replayable, true).headers()).isEmpty();
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
