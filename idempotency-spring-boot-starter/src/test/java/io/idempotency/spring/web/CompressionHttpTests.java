package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.filter.OncePerRequestFilter;

/** Case 107: compression by the server, by a filter outside and by a filter inside; 50 kB. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CompressionHttpTests {

    private static final int SIZE = 51200;

    private final java.util.Map<Where, TestServer> servers = new java.util.EnumMap<>(Where.class);

    enum Where {
        SERVER,
        OUTSIDE,
        INSIDE
    }

    private TestServer server(Where where) {
        return servers.computeIfAbsent(
                where,
                absent -> where == Where.SERVER
                        ? TestServer.start(
                                Servers.Leased.class,
                                "server.compression.enabled=true",
                                "server.servlet.context-path=/context",
                                "spring.mvc.servlet.path=/dispatcher")
                        : TestServer.start(
                                WithFilter.class, "test.gzip.order=" + (where == Where.OUTSIDE ? -1000 : 1000)));
    }

    @AfterAll
    void stop() {
        servers.values().forEach(TestServer::close);
    }

    private static String decoded(Answer answer) throws IOException {
        if (!"gzip".equals(answer.header("Content-Encoding"))) {
            assertThat(answer.headers("Content-Encoding")).isEmpty();
            return answer.text();
        }
        return new String(
                new GZIPInputStream(new ByteArrayInputStream(answer.body())).readAllBytes(), StandardCharsets.US_ASCII);
    }

    // The first server has a context path and a servlet path as well, for the look-up of handlers.
    private Answer post(Where where, String key, String accepted) {
        String prefix = where == Where.SERVER ? "/context/dispatcher" : "";
        return server(where).post(prefix + "/responses/body/" + SIZE, key, "{}", "Accept-Encoding", accepted);
    }

    /** Case 107. */
    @ParameterizedTest
    @EnumSource
    void sendsWhatEachClientAccepts(Where where) throws IOException {
        TestServer server = server(where);
        String expected = "0123456789abcdef".repeat(SIZE / 16);
        String one = TestServer.newKey();
        String other = TestServer.newKey();

        Answer[] answers = {
            post(where, one, "gzip"),
            post(where, one, "identity"),
            post(where, one, "gzip"),
            post(where, other, "identity"),
            post(where, other, "gzip"),
            post(where, other, "gzip;q=0"),
            post(where, one, "gzip;q=0")
        };

        for (Answer answer : answers) {
            assertThat(answer.status()).isEqualTo(201);
            assertThat(decoded(answer)).isEqualTo(expected);
        }
        assertThat(answers[0].header("Content-Encoding")).isEqualTo("gzip");
        assertThat(answers[1].headers("Content-Encoding")).isEmpty();
        assertThat(answers[5].headers("Content-Encoding")).isEmpty();
        assertThat(answers[6].headers("Content-Encoding")).isEmpty();
        assertThat(answers[1].replayed()).isTrue();
        assertThat(answers[4].replayed()).isTrue();
        for (Answer answer : new Answer[] {answers[0], answers[2]}) {
            assertThat(answer.headers("Vary").toString().toLowerCase(java.util.Locale.ROOT))
                    .contains("accept-encoding");
        }
        assertThat(server.effects().of(one)).isEqualTo(1);
    }

    @Test
    void neverCompressesTwice() throws IOException {
        String key = TestServer.newKey();
        Answer first = post(Where.INSIDE, key, "gzip");
        Answer second = post(Where.INSIDE, key, "gzip");

        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.headers("Content-Encoding")).containsExactly("gzip");
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Servers.Leased.class)
    static class WithFilter {

        @Bean
        FilterRegistrationBean<GzipFilter> gzip(Environment environment) {
            FilterRegistrationBean<GzipFilter> registration = new FilterRegistrationBean<>(new GzipFilter());
            registration.setOrder(environment.getRequiredProperty("test.gzip.order", Integer.class));
            return registration;
        }
    }

    /** As applications write it. */
    static final class GzipFilter extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String accepted = request.getHeader("Accept-Encoding");
            if (accepted == null || !accepted.contains("gzip") || accepted.contains("q=0")) {
                chain.doFilter(request, response);
                return;
            }
            GzipResponse gzip = new GzipResponse(response);
            chain.doFilter(request, gzip);
            gzip.finish();
        }
    }

    private static final class GzipResponse extends HttpServletResponseWrapper {

        private GZIPOutputStream gzip;
        private PrintWriter writer;

        GzipResponse(HttpServletResponse response) {
            super(response);
            super.setHeader("Content-Encoding", "gzip");
            super.addHeader("Vary", "Accept-Encoding");
        }

        @Override
        public void setContentLength(int length) {}

        @Override
        public void setContentLengthLong(long length) {}

        @Override
        public void setHeader(String name, String value) {
            if (!name.equalsIgnoreCase("Content-Length")) {
                super.setHeader(name, value);
            }
        }

        @Override
        public void addHeader(String name, String value) {
            if (!name.equalsIgnoreCase("Content-Length")) {
                super.addHeader(name, value);
            }
        }

        @Override
        public PrintWriter getWriter() throws IOException {
            if (writer == null) {
                writer = new PrintWriter(new OutputStreamWriter(getOutputStream(), getCharacterEncoding()));
            }
            return writer;
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            if (gzip == null) {
                gzip = new GZIPOutputStream(super.getOutputStream());
            }
            return new ServletOutputStream() {
                @Override
                public void write(int each) throws IOException {
                    gzip.write(each);
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    gzip.write(bytes, offset, length);
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setWriteListener(WriteListener listener) {
                    throw new UnsupportedOperationException();
                }
            };
        }

        void finish() throws IOException {
            if (writer != null) {
                writer.flush();
            }
            if (gzip != null) {
                gzip.finish();
            }
        }
    }
}
