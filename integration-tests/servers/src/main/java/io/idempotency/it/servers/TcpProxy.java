package io.idempotency.it.servers;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Stands between clients and a server, and can do to their connections what networks do. */
public final class TcpProxy implements AutoCloseable {

    private static final Duration LATE = Duration.ofMillis(300);

    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Plan> plan = new AtomicReference<>();
    private final AtomicInteger repliesToSwallow = new AtomicInteger();
    private final AtomicInteger swallowed = new AtomicInteger();
    private final ServerSocket listener;
    private volatile @Nullable InetSocketAddress target;
    private volatile Duration replyDelay = Duration.ZERO;
    private volatile boolean silent;
    private volatile boolean cut;

    /** A proxy whose target is told later. */
    public TcpProxy() {
        try {
            listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    public static TcpProxy to(String host, int port) {
        TcpProxy proxy = new TcpProxy();
        proxy.target(host, port);
        return proxy;
    }

    public void target(String host, int port) {
        target = new InetSocketAddress(host, port);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Decides the fate of the next message of a client with this text in it, in any case of letters. */
    public void expect(String text, Fate fate) {
        plan.set(new Plan(text.toLowerCase(Locale.ROOT), fate));
    }

    /** Whether what was expected has come. */
    public boolean happened() {
        return plan.get() == null;
    }

    /** Takes the next reply that the server sends and closes that connection instead. */
    public void swallowNextReply() {
        repliesToSwallow.incrementAndGet();
    }

    /** How many replies were taken. */
    public int swallowed() {
        return swallowed.get();
    }

    /** Lets every reply wait that long from now on. */
    public void delayReplies(Duration time) {
        replyDelay = time;
    }

    /** From now on nothing passes on any connection, and all of them stay open. */
    public void silence() {
        silent = true;
    }

    /** Closes all connections, and new ones as soon as they are made. The port is kept: another test would get it. */
    public void cut() {
        cut = true;
        sockets.forEach(TcpProxy::close);
    }

    public void restore() {
        cut = false;
    }

    @Override
    public void close() {
        close(listener);
        cut();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException e) {
                // The proxy was closed.
            }
        }
    }

    private void connect(Socket client) {
        Link link = new Link(client, new Socket());
        sockets.addAll(Set.of(client, link.server));
        try {
            client.setTcpNoDelay(true);
            link.server.setTcpNoDelay(true);
            link.server.connect(target);
            if (cut) {
                throw new IOException("cut");
            }
            daemon(link::passRequests);
            daemon(link::passReplies);
        } catch (IOException e) {
            link.end();
        }
    }

    private static void close(Closeable connection) {
        try {
            connection.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What becomes of a message and of its connection. */
    public enum Fate {
        /** The connection breaks before the server gets it. */
        CUT_BEFORE,
        /** The server gets it, and the connection breaks before its reply. */
        CUT_AFTER,
        /** The server gets it, and the client never hears of it again. */
        SWALLOWED,
        /** The server gets it late. */
        DELAYED
    }

    private record Plan(String text, Fate fate) {

        boolean isOf(byte[] message, int length) {
            return new String(message, 0, length, StandardCharsets.ISO_8859_1)
                    .toLowerCase(Locale.ROOT)
                    .contains(text);
        }
    }

    /** One connection. */
    private final class Link {

        private final Socket client;
        private final Socket server;
        private volatile boolean deaf;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void passRequests() {
            byte[] buffer = new byte[65_536];
            try {
                InputStream in = client.getInputStream();
                OutputStream out = server.getOutputStream();
                for (int length; (length = in.read(buffer)) >= 0; ) {
                    Fate fate = fateOf(buffer, length);
                    if (fate == Fate.CUT_BEFORE) {
                        break;
                    }
                    deaf |= fate == Fate.CUT_AFTER || fate == Fate.SWALLOWED;
                    if (fate == Fate.DELAYED) {
                        sleep(LATE);
                    }
                    if (!silent) {
                        out.write(buffer, 0, length);
                    }
                    if (fate == Fate.CUT_AFTER) {
                        // Long enough for the server to do it.
                        sleep(LATE);
                        break;
                    }
                }
            } catch (IOException e) {
                // One side is gone, and so is the other one now.
            }
            if (!silent) {
                end();
            }
        }

        private @Nullable Fate fateOf(byte[] message, int length) {
            Plan current = plan.get();
            return current != null && current.isOf(message, length) && plan.compareAndSet(current, null)
                    ? current.fate
                    : null;
        }

        void passReplies() {
            byte[] buffer = new byte[65_536];
            try {
                InputStream in = server.getInputStream();
                OutputStream out = client.getOutputStream();
                for (int length; (length = in.read(buffer)) >= 0; ) {
                    if (repliesToSwallow.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                        swallowed.incrementAndGet();
                        break;
                    }
                    if (!replyDelay.isZero()) {
                        sleep(replyDelay);
                    }
                    if (!silent && !deaf) {
                        out.write(buffer, 0, length);
                    }
                }
            } catch (IOException e) {
                // One side is gone, and so is the other one now.
            }
            if (!silent && !deaf) {
                end();
            }
        }

        void end() {
            close(client);
            close(server);
            sockets.removeAll(Set.of(client, server));
        }
    }
}
