package io.idempotency.redis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Hears every command that a server executes. */
final class Monitor implements AutoCloseable {

    private final RedisServer server;
    private final Socket socket;
    private final BufferedReader lines;

    Monitor(RedisServer server) {
        this.server = server;
        try {
            this.socket = new Socket("127.0.0.1", server.port());
            this.lines =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
            lines.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What clients have sent since the last call, without what scripts did and without the connections' own set-up. */
    List<String> commands() {
        return heard().stream()
                .filter(line -> !line.contains(" lua] "))
                .map(line -> line.substring(line.indexOf("] ") + 2))
                .filter(line -> !line.matches("(?i)\"(hello|client|select|auth|ping|cluster|role|info)\".*"))
                .toList();
    }

    /** Everything since the last call. */
    List<String> heard() {
        String marker = UUID.randomUUID().toString();
        server.does(jedis -> jedis.echo(marker));
        List<String> heard = new ArrayList<>();
        try {
            for (String line = lines.readLine(); !line.contains(marker); line = lines.readLine()) {
                heard.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return heard;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
