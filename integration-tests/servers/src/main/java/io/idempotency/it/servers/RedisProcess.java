package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A real Redis as a process of its own on the loopback interface. It is gone when the run ends. */
public final class RedisProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<String> command;
    private final Path log;
    private final int port;
    private Process process;

    private RedisProcess(List<String> command, Path log, int port) throws IOException {
        this.command = command;
        this.log = log;
        this.port = port;
        this.process = launch();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly()));
    }

    /** Starts Redis 7.0 with these options, each a name and a value. */
    public static RedisProcess start(String... options) {
        return startOn(Ports.free(), options);
    }

    public static RedisProcess startOn(int port, String... options) {
        try {
            return startOn(port, RedisBinary.REDIS_7.file(), options);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the server in this file. */
    public static RedisProcess startOn(int port, Path server, String... options) throws IOException {
        Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target", "redis")), "server-")
                .toAbsolutePath();
        List<String> command =
                new ArrayList<>(List.of(server.toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1"));
        command.addAll(List.of("--save", "", "--dir", folder.toString()));
        command.addAll(List.of(options));
        return new RedisProcess(command, folder.resolve("log"), port);
    }

    private Process launch() throws IOException {
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        long start = System.nanoTime();
        while (!answers()) {
            if (!started.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
                started.destroyForcibly();
                throw new IOException("Redis does not start. It says:\n" + Files.readString(log));
            }
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
        return started;
    }

    private boolean answers() {
        try {
            return say("PING").startsWith("+PONG");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    public int port() {
        return port;
    }

    public long pid() {
        return process.pid();
    }

    /** Sends a command and returns the beginning of the answer as it comes. */
    public String say(String line) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
            byte[] answer = new byte[8192];
            int length = socket.getInputStream().read(answer);
            return new String(answer, 0, Math.max(0, length), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code kill -9}. */
    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Starts it again on the same port, with what is on its disk. */
    public void restart() {
        try {
            process = launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
