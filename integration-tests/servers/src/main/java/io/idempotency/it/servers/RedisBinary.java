package io.idempotency.it.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The servers that come in jars. Which of them are there is a matter of the class path. */
public enum RedisBinary {
    REDIS_7("7.0", "redis-server-7.0.15-%s", "redis-server-7.0.15-%s"),
    REDIS_6("6.2", "redis-server-6.2.6-v5-%s", "redis-server-6.2.7-%s");

    private final String version;
    private final String[] names;

    RedisBinary(String version, String... names) {
        this.version = version;
        this.names = names;
    }

    /** Where it was unpacked to, which happens once. */
    public synchronized Path file() throws IOException {
        String platform = platform();
        for (String name : names) {
            String file = name.formatted(platform);
            Path unpacked = Path.of("target", file).toAbsolutePath();
            if (Files.isExecutable(unpacked)) {
                return unpacked;
            }
            try (InputStream binary = RedisBinary.class.getResourceAsStream("/" + file)) {
                if (binary != null) {
                    return unpack(binary, unpacked);
                }
            }
        }
        throw new IOException("There is no Redis " + version + " for " + platform + " in the jars of the tests");
    }

    private static Path unpack(InputStream binary, Path target) throws IOException {
        Files.createDirectories(target.getParent());
        Path part = Files.createTempFile(target.getParent(), "redis", ".part");
        Files.copy(binary, part, StandardCopyOption.REPLACE_EXISTING);
        if (!part.toFile().setExecutable(true)) {
            throw new IOException(part + " cannot be made executable");
        }
        return Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return (system.contains("mac") ? "darwin" : "linux")
                + "-"
                + (machine.equals("aarch64") || machine.equals("arm64") ? "arm64" : "amd64");
    }
}
