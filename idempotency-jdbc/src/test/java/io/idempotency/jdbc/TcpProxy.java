package io.idempotency.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and a database server. What the next client that sends a certain text meets is decided beforehand; its other
 * connections are not concerned.
 */
final class TcpProxy implements AutoCloseable {

    private static final long DELAY_MILLIS = 300;

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicReference<@Nullable Plan> next = new AtomicReference<>();
    private final String url;
    private final URI target;
    private volatile boolean silent;

    TcpProxy(String jdbcUrl) throws IOException {
        url = jdbcUrl;
        target = URI.create(jdbcUrl.substring("jdbc:".length()));
        start(this::accept);
    }

    String url() {
        return url.replaceFirst("//[^/]+/", "//127.0.0.1:" + listener.getLocalPort() + "/");
    }

    /** From now on nothing passes on any connection, and all of them stay open. */
    void silence() {
        silent = true;
    }

    /** Decides the fate of the next message with this text in it, in any case of letters. */
    void expect(String text, Fate fate) {
        next.set(new Plan(text.toLowerCase(Locale.ROOT), fate));
    }

    /** Whether what was expected has come. */
    boolean happened() {
        return next.get() == null;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Link link = new Link(client, new Socket(target.getHost(), target.getPort()));
                sockets.add(client);
                sockets.add(link.server);
                start(link::passRequests);
                start(link::passReplies);
            }
        } catch (IOException closed) {
            // The end of the test.
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

    /** What becomes of a message and of its connection. */
    enum Fate {
        /** The connection breaks before the server gets it. */
        CUT_BEFORE,
        /** The server gets it, and the connection breaks before its reply. */
        CUT_AFTER,
        /** The server gets it, and the client never hears of it again. */
        SWALLOWED,
        /** The server gets it late. */
        DELAYED
    }

    private record Plan(String text, Fate fate) {}

    /** One connection. */
    private final class Link {

        private final Socket client;
        private final Socket server;
        private volatile boolean repliesLost;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void passRequests() {
            byte[] buffer = new byte[65_536];
            try {
                InputStream in = client.getInputStream();
                OutputStream out = server.getOutputStream();
                for (int read; (read = in.read(buffer)) >= 0; ) {
                    Fate fate = fateOf(buffer, read);
                    if (fate == Fate.CUT_BEFORE) {
                        break;
                    }
                    repliesLost |= fate == Fate.CUT_AFTER || fate == Fate.SWALLOWED;
                    if (fate == Fate.DELAYED) {
                        sleep(DELAY_MILLIS);
                    }
                    if (!silent) {
                        out.write(buffer, 0, read);
                        out.flush();
                    }
                    if (fate == Fate.CUT_AFTER) {
                        // Long enough for the server to do it.
                        sleep(DELAY_MILLIS);
                        break;
                    }
                }
            } catch (IOException closed) {
                // One of the two has gone.
            }
            if (!silent) {
                closeBoth();
            }
        }

        private @Nullable Fate fateOf(byte[] buffer, int length) {
            Plan plan = next.get();
            return plan != null
                            && new String(buffer, 0, length, StandardCharsets.ISO_8859_1)
                                    .toLowerCase(Locale.ROOT)
                                    .contains(plan.text)
                            && next.compareAndSet(plan, null)
                    ? plan.fate
                    : null;
        }

        void passReplies() {
            byte[] buffer = new byte[65_536];
            try {
                InputStream in = server.getInputStream();
                OutputStream out = client.getOutputStream();
                for (int read; (read = in.read(buffer)) >= 0; ) {
                    if (!silent && !repliesLost) {
                        out.write(buffer, 0, read);
                        out.flush();
                    }
                }
            } catch (IOException closed) {
                // One of the two has gone.
            }
            if (!silent && !repliesLost) {
                closeBoth();
            }
        }

        private void closeBoth() {
            try (client;
                    server) {
                // Both at once.
            } catch (IOException e) {
                // Closed already.
            }
        }

        private void sleep(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
