package io.idempotency.redis;

import io.idempotency.it.servers.RedisProcess;
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
    private ServerSocket listener;

    TcpProxy() {
        try {
            this.port = RedisProcess.freePort();
            this.listener = listen();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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

    private ServerSocket listen() throws IOException {
        ServerSocket socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 200);
        daemon(() -> accept(socket));
        return socket;
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept());
            } catch (IOException e) {
                // The proxy was closed.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        try {
            Socket server = new Socket(target.getAddress(), target.getPort());
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            sockets.add(client);
            sockets.add(server);
            daemon(() -> pump(client, server, false));
            daemon(() -> pump(server, client, true));
        } catch (IOException e) {
            client.close();
        }
    }

    private void pump(Socket from, Socket to, boolean replies) {
        byte[] buffer = new byte[8192];
        try (from;
                to) {
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
            sockets.remove(from);
            sockets.remove(to);
        }
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

    /** Closes all connections and refuses new ones. */
    void cut() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is closed all the same.
            }
        }
    }

    void restore() {
        try {
            listener = listen();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        cut();
    }
}
