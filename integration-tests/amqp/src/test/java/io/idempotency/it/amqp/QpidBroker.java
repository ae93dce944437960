package io.idempotency.it.amqp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.qpid.server.SystemLauncher;

/** A broker in this process; it ends with it. */
final class QpidBroker {

    private static final int PORT = start();

    private QpidBroker() {}

    static int port() {
        return PORT;
    }

    private static int start() {
        try {
            int port = freePort();
            URL configuration = Objects.requireNonNull(QpidBroker.class.getResource("/qpid.json"));
            new SystemLauncher()
                    .startup(new HashMap<>(Map.of(
                            "type",
                            "Memory",
                            "initialConfigurationLocation",
                            configuration.toExternalForm(),
                            "startupLoggedToSystemOut",
                            "false",
                            "context",
                            Map.of("qpid.amqp_port", String.valueOf(port), "qpid.work_dir", "target/qpid"))));
            return port;
        } catch (Exception e) {
            throw new IllegalStateException("The broker does not start", e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
