package io.idempotency.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands between a client and a server until it goes silent: connections stay open, and nothing passes any more. */
final class SilentProxy implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final URI target;
    private volatile boolean silent;

    SilentProxy(String jdbcUrl) throws IOException {
        target = URI.create(jdbcUrl.substring("jdbc:".length()));
        start(this::accept);
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + target.getPath() + "?" + target.getQuery()
                + "&cancelSignalTimeout=1";
    }

    void silence() {
        silent = true;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket server = new Socket(target.getHost(), target.getPort());
                sockets.add(client);
                sockets.add(server);
                start(() -> pass(client, server));
                start(() -> pass(server, client));
            }
        } catch (IOException closed) {
            // The end of the test.
        }
    }

    private void pass(Socket from, Socket to) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[8192];
            for (int read; (read = in.read(buffer)) >= 0; ) {
                if (!silent) {
                    out.write(buffer, 0, read);
                    out.flush();
                }
            }
            if (!silent) {
                to.shutdownOutput();
            }
        } catch (IOException closed) {
            // One of the two has gone.
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
