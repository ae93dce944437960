package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.unit.DataSize;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

/** 50 MB in and out: what a request costs in memory is bounded by the configured limits, not by what is sent. */
class BigBodyHttpTests {

    private static final int MB = 1 << 20;
    private static final int BIG = 50 * MB;

    @AutoClose
    private static final TestServer server = TestServer.start(
            Big.class, "spring.servlet.multipart.max-file-size=64MB", "spring.servlet.multipart.max-request-size=64MB");

    private final String key = TestServer.newKey();

    private long allocated() {
        return server.bean(Allocations.class).byKey.get(key);
    }

    /** A body of which nothing is stored passes through, and no more than the limit of the response is ever held. */
    @Test
    void sendsALargeDownloadWithoutHoldingIt() {
        Answer first = server.post("/big/download", key, "{}");
        long bytes = allocated();

        assertThat(first.body()).hasSize(BIG);
        assertThat(bytes).isLessThan(12L * MB);
        assertThat(server.post("/big/download", key, "{}").problem()).isEqualTo("result-not-replayable");
    }

    /** In a transaction nothing may be sent before the commit: the body waits in a file. */
    @Test
    void keepsALargeDownloadInAFileUntilTheCommit() {
        Answer first = server.post("/big/committed-download", key, "{}");
        long bytes = allocated();

        assertThat(first.body()).hasSize(BIG);
        assertThat(bytes).isLessThan(12L * MB);
        assertThat(server.post("/big/committed-download", key, "{}").problem()).isEqualTo("result-not-replayable");
    }

    /** The parts of a request are where the container has put them. */
    @Test
    void holdsNoPartOfALargeUpload() {
        byte[] head = ("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"
                        + "Content-Type: application/octet-stream\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] end = "\r\n--cut--\r\n".getBytes(StandardCharsets.US_ASCII);
        byte[] body = Arrays.copyOf(head, head.length + BIG + end.length);
        System.arraycopy(end, 0, body, head.length + BIG, end.length);

        Answer first =
                server.send("POST", "/big/parts", key, body, "Content-Type", "multipart/form-data; boundary=cut");
        long bytes = allocated();
        Answer second =
                server.send("POST", "/big/parts", key, body, "Content-Type", "multipart/form-data; boundary=cut");

        assertThat(first.text()).isEqualTo(Integer.toString(BIG));
        assertThat(second.replayed()).isTrue();
        assertThat(bytes).isLessThan(12L * MB);
    }

    /** A body has to be read before its key can be claimed: it is held once, twice while it is put together. */
    @Test
    void holdsALargeUploadOnce() {
        byte[] body = new byte[BIG];

        Answer first = server.send("POST", "/big/upload", key, body, "Content-Type", "application/octet-stream");
        long bytes = allocated();
        Answer second = server.send("POST", "/big/upload", key, body, "Content-Type", "application/octet-stream");

        assertThat(first.text()).isEqualTo(Integer.toString(BIG));
        assertThat(second.replayed()).isTrue();
        assertThat(bytes).isLessThan(2L * BIG + 20L * MB);
    }

    /** What is larger than the limit is refused before it is read. */
    @Test
    void refusesMoreThanTheLimitWithoutReadingIt() throws Exception {
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /big/upload HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + key
                            + "\r\nContent-Length: " + 2L * BIG + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));

            assertThat(raw.read().problem()).isEqualTo("request-too-large");
        }
        assertThat(allocated()).isLessThan(4L * MB);
    }

    /** What the thread of a request has allocated, by its key. */
    static final class Allocations {

        private final Map<String, Long> byKey = new ConcurrentHashMap<>();
    }

    @RestController
    static class Handlers {

        @PostMapping("/big/download")
        @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
        void download(jakarta.servlet.http.HttpServletResponse response) throws IOException {
            OutputStream out = response.getOutputStream();
            byte[] chunk = new byte[64 * 1024];
            for (int sent = 0; sent < BIG; sent += chunk.length) {
                out.write(chunk);
            }
        }

        @PostMapping("/big/committed-download")
        @Idempotent(operation = "committed-download")
        void committedDownload(jakarta.servlet.http.HttpServletResponse response) throws IOException {
            download(response);
        }

        @PostMapping("/big/parts")
        @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
        String parts(@RequestParam MultipartFile file) {
            return Long.toString(file.getSize());
        }

        @PostMapping("/big/upload")
        @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
        String upload(InputStream in, @RequestHeader("Idempotency-Key") String key) throws IOException {
            return Long.toString(in.transferTo(OutputStream.nullOutputStream()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({ExactlyOnceConfiguration.class, Handlers.class})
    static class Big {

        @Bean
        DataSource dataSource() {
            return ExactlyOnceConfiguration.h2();
        }

        @Bean
        Allocations allocations() {
            return new Allocations();
        }

        @Bean
        FilterRegistrationBean<jakarta.servlet.Filter> measuring(Allocations allocations) {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            FilterRegistrationBean<jakarta.servlet.Filter> registration =
                    new FilterRegistrationBean<>((request, response, chain) -> {
                        long before = threads.getCurrentThreadAllocatedBytes();
                        chain.doFilter(request, response);
                        String key = ((jakarta.servlet.http.HttpServletRequest) request).getHeader("Idempotency-Key");
                        allocations.byKey.putIfAbsent(key, threads.getCurrentThreadAllocatedBytes() - before);
                    });
            registration.setName("measuring");
            registration.setOrder(-1000);
            return registration;
        }

        @Bean
        WebSettings webSettings() {
            return new TestWebSettings()
                    .maxRequestSize(DataSize.ofMegabytes(64))
                    .build();
        }
    }
}
