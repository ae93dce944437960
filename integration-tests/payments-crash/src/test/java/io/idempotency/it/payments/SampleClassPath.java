package io.idempotency.it.payments;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * What the sample's processes load their classes from. They are started by the dozen, so that a first one leaves an archive of loaded
 * classes to the others (class data sharing of the JVM), which halves what a start costs. Such an archive knows jars only.
 */
final class SampleClassPath {

    static final String APPLICATION = "io.idempotency.samples.payments.PaymentsApplication";

    private static final int SECONDS_TO_TRAIN = 60;
    private static final SampleClassPath INSTANCE = create();

    private final String jars;
    private final Path archive;

    private SampleClassPath(String jars, Path archive) {
        this.jars = jars;
        this.archive = archive;
    }

    /** The command that starts a process quickly, as far as the options of the JVM. */
    static List<String> java() {
        return INSTANCE.command("-Xshare:auto", "-XX:SharedArchiveFile=" + INSTANCE.archive);
    }

    private static SampleClassPath create() {
        try {
            Path directory = Files.createTempDirectory(
                    Files.createDirectories(Path.of("target", "payments").toAbsolutePath()), "class-path-");
            var classPath = new SampleClassPath(jarsIn(directory), directory.resolve("classes.jsa"));
            classPath.train(directory);
            return classPath;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> command(String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", jars));
        return command;
    }

    private void train(Path directory) throws IOException {
        Path log = directory.resolve("training.log");
        Path written = directory.resolve("training.jsa");
        List<String> command =
                command("-XX:ArchiveClassesAtExit=" + written, "-Xlog:cds=off", "-Dspring.context.exit=onRefresh");
        command.addAll(List.of(APPLICATION, "--server.port=0"));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            // Without an archive the JVM starts as always.
            if (!process.waitFor(SECONDS_TO_TRAIN, TimeUnit.SECONDS)) {
                return;
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException("the sample does not start:\n" + Files.readString(log));
            }
            if (Files.exists(written)) {
                Files.move(written, archive);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String jarsIn(Path directory) throws IOException {
        String surefireClassPath = System.getProperty("surefire.test.class.path");
        String classPath = surefireClassPath != null ? surefireClassPath : System.getProperty("java.class.path");
        List<String> jars = new ArrayList<>();
        for (String entry : classPath.split(System.getProperty("path.separator"))) {
            Path path = Path.of(entry);
            jars.add(Files.isDirectory(path) ? packed(path, directory.resolve(jars.size() + ".jar")) : entry);
        }
        return String.join(System.getProperty("path.separator"), jars);
    }

    private static String packed(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> tree = Files.walk(classes)) {
            for (Path each : tree.toList()) {
                String name = classes.relativize(each).toString().replace('\\', '/');
                if (Files.isDirectory(each)) {
                    if (!name.isEmpty()) {
                        entries.putNextEntry(new JarEntry(name + "/"));
                    }
                } else {
                    entries.putNextEntry(new JarEntry(name));
                    Files.copy(each, entries);
                }
            }
        }
        return jar.toString();
    }
}
