package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;

/** An application with a real Tomcat, and clients for it. */
final class TestServer implements AutoCloseable {

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final ServletWebServerApplicationContext context;

    private TestServer(ServletWebServerApplicationContext context) {
        this.context = context;
    }

    static TestServer start(Class<?> configuration, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "server.error.include-message=always",
                "logging.level.root=off",
                "spring.main.lazy-initialization=false"));
        all.addAll(List.of(properties));
        return new TestServer((ServletWebServerApplicationContext) new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.SERVLET)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(true)
                .properties(all.toArray(String[]::new))
                .run());
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    Effects effects() {
        return bean(Effects.class);
    }

    int port() {
        return context.getWebServer().getPort();
    }

    static String newKey() {
        return UUID.randomUUID().toString();
    }

    /** A POST with JSON; headers as name, value, name, value. */
    Answer post(String path, String key, String body, String... headers) {
        return send("POST", path, key, body.getBytes(StandardCharsets.UTF_8), withJson(headers));
    }

    private static String[] withJson(String... headers) {
        for (int i = 0; i < headers.length; i += 2) {
            if (headers[i].equalsIgnoreCase("Content-Type")) {
                return headers;
            }
        }
        String[] all = java.util.Arrays.copyOf(headers, headers.length + 2);
        all[headers.length] = "Content-Type";
        all[headers.length + 1] = "application/json";
        return all;
    }

    Answer send(String method, String path, String key, byte[] body, String... headers) {
        return sendLater(method, path, key, body, headers).join();
    }

    CompletableFuture<Answer> postLater(String path, String key, String body, String... headers) {
        return sendLater("POST", path, key, body.getBytes(StandardCharsets.UTF_8), withJson(headers));
    }

    List<CompletableFuture<Answer>> postManyLater(int count, String path, String key) {
        return IntStream.range(0, count)
                .mapToObj(i -> postLater(path, key, "{}"))
                .toList();
    }

    /** The answers to equal requests, of which one runs until all others have theirs. */
    List<Answer> race(int count, String path, String key) {
        List<CompletableFuture<Answer>> all;
        try (Effects.Stop stop = effects().stop(key)) {
            all = postManyLater(count, path, key);
            stop.awaitArrival();
            await().untilAsserted(() ->
                    assertThat(all.stream().filter(CompletableFuture::isDone)).hasSize(count - 1));
        }
        return all.stream().map(CompletableFuture::join).toList();
    }

    CompletableFuture<Answer> sendLater(String method, String path, String key, byte[] body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port() + path))
                .timeout(Duration.ofSeconds(60))
                .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        if (key != null) {
            request.header("Idempotency-Key", key);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.sendAsync(request.build(), BodyHandlers.ofByteArray()).thenApply(TestServer::answer);
    }

    private static Answer answer(HttpResponse<byte[]> response) {
        Map<String, List<String>> headers = new HashMap<>();
        response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values));
        return new Answer(response.statusCode(), headers, response.body());
    }

    /** A connection on which bytes are written as they are. */
    Raw raw() {
        try {
            return new Raw(new Socket("localhost", port()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        context.close();
    }

    static final class Raw implements AutoCloseable {

        private final Socket socket;

        Raw(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(30_000);
        }

        /** Sends a POST with these header lines. */
        Answer post(String path, String body, String... headerLines) throws IOException {
            write(request(path, body, headerLines));
            return read();
        }

        static byte[] request(String path, String body, String... headerLines) {
            StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n");
            for (String line : headerLines) {
                head.append(line).append("\r\n");
            }
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            head.append("Content-Length: ").append(bytes.length).append("\r\n\r\n");
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(head.toString().getBytes(StandardCharsets.ISO_8859_1));
            all.writeBytes(bytes);
            return all.toByteArray();
        }

        void write(byte[] bytes) throws IOException {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            out.flush();
        }

        /** Sends nothing more, but still reads. */
        void endOutput() throws IOException {
            socket.shutdownOutput();
        }

        Answer read() throws IOException {
            InputStream in = socket.getInputStream();
            int status = Integer.parseInt(line(in).split(" ")[1]);
            Map<String, List<String>> headers = new HashMap<>();
            for (String line = line(in); !line.isEmpty(); line = line(in)) {
                int colon = line.indexOf(':');
                headers.computeIfAbsent(line.substring(0, colon).toLowerCase(Locale.ROOT), absent -> new ArrayList<>())
                        .add(line.substring(colon + 1).strip());
            }
            return new Answer(status, headers, body(in, status, headers));
        }

        private static byte[] body(InputStream in, int status, Map<String, List<String>> headers) throws IOException {
            if (headers.containsKey("transfer-encoding")) {
                ByteArrayOutputStream body = new ByteArrayOutputStream();
                for (int size = chunkSize(in); size > 0; size = chunkSize(in)) {
                    body.writeBytes(in.readNBytes(size));
                    line(in);
                }
                line(in);
                return body.toByteArray();
            }
            if (headers.containsKey("content-length")) {
                return in.readNBytes(
                        Integer.parseInt(headers.get("content-length").get(0)));
            }
            return status == 204 ? new byte[0] : in.readAllBytes();
        }

        private static int chunkSize(InputStream in) throws IOException {
            return Integer.parseInt(line(in).strip(), 16);
        }

        private static String line(InputStream in) throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int each = in.read(); each != '\n'; each = in.read()) {
                if (each < 0) {
                    throw new IOException("The connection was closed after: " + line);
                }
                if (each != '\r') {
                    line.write(each);
                }
            }
            return line.toString(StandardCharsets.ISO_8859_1);
        }

        int available() throws IOException {
            return socket.getInputStream().available();
        }

        /** Goes away without reading, so that the server's writes fail. */
        void abort() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
