package io.idempotency.it.matrix;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real Redis as a process of its own. Only the server in the jar of the tests is used. */
final class RedisProcess implements AutoCloseable {

    private static final long START_SECONDS = 20;

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

    /** Starts one with these options, each a name and a value. */
    static RedisProcess start(String... options) {
        try {
            int port = freePort();
            Path folder = Files.createTempDirectory(Files.createDirectories(Path.of("target", "redis")), "server-")
                    .toAbsolutePath();
            List<String> command = new ArrayList<>(
                    List.of(binary().toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1"));
            command.addAll(List.of("--save", "", "--dir", folder.toString()));
            command.addAll(List.of(options));
            return new RedisProcess(command, folder.resolve("log"), port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static Path binary() throws IOException {
        String system = System.getProperty("os.name").startsWith("Mac") ? "darwin" : "linux";
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
        String name = "redis-server-7.0.15-" + system + "-" + processor;
        Path file = Path.of("target", name).toAbsolutePath();
        if (!Files.isExecutable(file)) {
            try (InputStream in = RedisProcess.class.getResourceAsStream("/" + name)) {
                if (in == null) {
                    throw new FileNotFoundException("no Redis for this platform: " + name);
                }
                Path unpacked = Files.createTempFile(Files.createDirectories(file.getParent()), "redis", ".tmp");
                Files.copy(in, unpacked, StandardCopyOption.REPLACE_EXISTING);
                if (!unpacked.toFile().setExecutable(true)) {
                    throw new IOException("cannot make executable: " + unpacked);
                }
                Files.move(unpacked, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return file;
    }

    private Process launch() throws IOException {
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try {
                if (say("PING").startsWith("+PONG")) {
                    return started;
                }
            } catch (UncheckedIOException e) {
                // Not yet.
            }
            if (!started.isAlive() || System.nanoTime() > end) {
                started.destroyForcibly();
                throw new IllegalStateException("Redis does not start:\n" + Files.readString(log));
            }
            Thread.onSpinWait();
        }
    }

    int port() {
        return port;
    }

    /** Sends a command and returns the beginning of the answer as it comes. */
    String say(String line) {
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
    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Starts it again on the same port. */
    void restart() {
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
