package io.idempotency.it.payments;

import io.idempotency.it.payments.child.ClockSkewAgent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sample in a process of its own. */
final class PaymentsProcess implements AutoCloseable {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final String STARTED = "Started PaymentsApplication";
    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);

    private final Process process;
    private final Path log;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    private PaymentsProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts the sample as a user would. */
    static PaymentsProcess start(Database.Instance database, String... arguments) {
        return start(database, List.of(), arguments);
    }

    /** Starts the sample with a data source that can end the process at any JDBC call. */
    static PaymentsProcess startWithFailpoints(Database.Instance database, String... arguments) {
        return start(database, List.of("-Dfailpoints=true"), arguments);
    }

    /** Starts the sample on a machine whose clock is wrong. */
    static PaymentsProcess startWithClockSkew(Database.Instance database, Duration skew, String... arguments) {
        return start(database, List.of("-javaagent:" + clockSkewAgent(), "-Dclock.skew=" + skew), arguments);
    }

    private static PaymentsProcess start(Database.Instance database, List<String> options, String... arguments) {
        List<String> command = SampleClassPath.java();
        command.addAll(options);
        command.add(SampleClassPath.APPLICATION);
        command.addAll(List.of("--server.port=0", "--spring.main.banner-mode=off"));
        command.addAll(List.of(arguments));
        try {
            Path log = Files.createTempFile(database.directory(), "process-", ".log");
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(database.directory().toFile())
                    .redirectErrorStream(true);
            builder.environment().putAll(database.environment());
            var started = new PaymentsProcess(builder.start(), log);
            Runtime.getRuntime().addShutdownHook(new Thread(started.process::destroyForcibly));
            Thread reader = new Thread(started::readOutput, "output of " + log.getFileName());
            reader.setDaemon(true);
            reader.start();
            started.awaitStart();
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url() {
        return "http://localhost:" + port.join();
    }

    /** Waits for a process that is about to end by itself. */
    int awaitExit() {
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("still running, see " + log);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Stops it in the middle of whatever it does, until it is told to go on. */
    void freeze() {
        signal("STOP");
    }

    void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
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

    @Override
    public void close() {
        process.destroyForcibly();
        awaitExit();
    }

    private void awaitStart() {
        try {
            port.get(START_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new IllegalStateException(e);
        } catch (ExecutionException | TimeoutException e) {
            close();
            throw new IllegalStateException("did not start:\n" + output(), e);
        }
    }

    private void readOutput() {
        int seenPort = 0;
        try (BufferedReader output = process.inputReader();
                Writer copy = Files.newBufferedWriter(log)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                copy.write(line);
                copy.write('\n');
                copy.flush();
                Matcher matcher = PORT.matcher(line);
                if (matcher.find()) {
                    seenPort = Integer.parseInt(matcher.group(1));
                }
                if (line.contains(STARTED)) {
                    port.complete(seenPort);
                }
            }
        } catch (IOException e) {
            port.completeExceptionally(e);
        }
        port.completeExceptionally(new IllegalStateException("ended before it had started"));
    }

    /** The agent's class is on the class path; its jar is only the manifest that names it. */
    private static Path clockSkewAgent() {
        var manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), ClockSkewAgent.class.getName());
        try {
            Path jar =
                    Files.createTempFile(Files.createDirectories(Path.of("target", "payments")), "clock-skew-", ".jar");
            try (OutputStream out = Files.newOutputStream(jar)) {
                new JarOutputStream(out, manifest).close();
            }
            return jar.toAbsolutePath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
