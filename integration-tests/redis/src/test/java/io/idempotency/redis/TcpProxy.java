package io.idempotency.redis;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between a store and its server and can do to their connections what networks do. */
final class TcpProxy implements AutoCloseable {

    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger repliesToSwallow = new AtomicInteger();
    private final AtomicInteger swallowed = new AtomicInteger();
    private final int port;
    private volatile InetSocketAddress target;
    private volatile Duration delay = Duration.ZERO;
    private volatile boolean cut;
    private final ServerSocket listener;

    TcpProxy() {
        try {
            this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.port = listener.getLocalPort();
        daemon(this::accept);
    }

    static TcpProxy to(String host, int port) {
        TcpProxy proxy = new TcpProxy();
        proxy.target(host, port);
        return proxy;
    }

    void target(String host, int targetPort) {
        target = new InetSocketAddress(host, targetPort);
    }

    int port() {
        return port;
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
        Socket server = new Socket();
        sockets.addAll(Set.of(client, server));
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(target);
            if (cut) {
                throw new IOException("cut");
            }
            daemon(() -> pump(client, server, false));
            daemon(() -> pump(server, client, true));
        } catch (IOException e) {
            end(client, server);
        }
    }

    private void pump(Socket from, Socket to, boolean replies) {
        byte[] buffer = new byte[8192];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (replies && repliesToSwallow.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                    swallowed.incrementAndGet();
                    return;
                }
                if (replies && !delay.isZero()) {
                    Claims.waitFor(delay);
                }
                out.write(buffer, 0, length);
            }
        } catch (IOException e) {
            // One side is gone, and so is the other one now.
        } finally {
            end(from, to);
        }
    }

    private void end(Socket one, Socket other) {
        close(one);
        close(other);
        sockets.removeAll(Set.of(one, other));
    }

    /** Takes the next reply that the server sends and closes that connection instead. */
    void swallowNextReply() {
        repliesToSwallow.incrementAndGet();
    }

    /** Lets every reply wait that long from now on. */
    void delayReplies(Duration time) {
        delay = time;
    }

    /** How many replies were taken. */
    int swallowed() {
        return swallowed.get();
    }

    /** Closes all connections, and new ones as soon as they are made. The port is kept: another test would get it. */
    void cut() {
        cut = true;
        sockets.forEach(TcpProxy::close);
    }

    void restore() {
        cut = false;
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

    @Override
    public void close() {
        close(listener);
        cut();
    }
}
