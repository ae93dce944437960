package io.idempotency.samples.orders;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sample in a process of its own, and a client of it. */
final class OrderEventsProcess implements AutoCloseable {

    private static final Pattern STARTED =
            Pattern.compile("Tomcat started on port (\\d+).*Started OrderEventsApplication", Pattern.DOTALL);
    private static final int CRASHED = 137;
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Process process;
    private final Path log;
    private final String url;

    /** Starts the sample as a user would; what it keeps is in the directory. */
    OrderEventsProcess(Path directory) {
        try {
            log = Files.createTempFile(directory, "process-", ".log");
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            OrderEventsApplication.class.getName(),
                            "--server.port=0",
                            "--spring.main.banner-mode=off")
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        url = "http://localhost:" + awaitPort();
    }

    HttpResponse<String> order(String key, String simulation) throws IOException {
        return send(HttpRequest.newBuilder(URI.create(url + "/orders"))
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .header("X-Simulate", simulation)
                .POST(BodyPublishers.ofString("{\"customer\":\"alice\",\"amount\":25}")));
    }

    /** Orders what ends the process, before its answer or after it. */
    void orderAndAwaitExit(String key, String simulation) {
        try {
            order(key, simulation);
        } catch (IOException e) {
            // no answer, as in real life
        }
        awaitExit();
        if (process.exitValue() != CRASHED) {
            throw new IllegalStateException("ended by itself, see " + log);
        }
    }

    String get(String path) throws IOException {
        return send(HttpRequest.newBuilder(URI.create(url + path))).body();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException {
        try {
            return http.send(request.timeout(PATIENCE).build(), BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Everything that the process has written so far. */
    String output() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void awaitOutput(String... texts) {
        for (String text : texts) {
            await(text + " in " + log)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(50))
                    .until(() -> output().contains(text));
        }
    }

    private void awaitExit() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("still running, see " + log);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        awaitExit();
    }

    private String awaitPort() {
        try {
            return await("start of " + log)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(50))
                    .until(
                            () -> {
                                if (!process.isAlive()) {
                                    throw new IllegalStateException("did not start:\n" + output());
                                }
                                Matcher matcher = STARTED.matcher(output());
                                return matcher.find() ? List.of(matcher.group(1)) : List.<String>of();
                            },
                            port -> !port.isEmpty())
                    .get(0);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }
}
