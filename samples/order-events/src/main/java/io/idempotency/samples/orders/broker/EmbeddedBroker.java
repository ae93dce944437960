package io.idempotency.samples.orders.broker;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.Feature;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;

/**
 * A broker of Kafka that lives and dies with the application. Topics and offsets are in a directory: the next process
 * finds what this one had, and delivers again what this one had not acknowledged.
 */
final class EmbeddedBroker implements KafkaConnectionDetails, AutoCloseable {

    private static final String CLUSTER_ID = "b3JkZXItZXZlbnRzLTAwMQ";
    private static final int NODE_ID = 1;

    private final String address;
    private final KafkaRaftServer server;

    EmbeddedBroker(Path directory) throws Exception {
        String log = directory.toAbsolutePath().toString();
        address = freeAddress();
        String controller = freeAddress();
        format(log);
        server = new KafkaRaftServer(
                new KafkaConfig(Map.ofEntries(
                        Map.entry("process.roles", "broker,controller"),
                        Map.entry("node.id", NODE_ID),
                        Map.entry("controller.quorum.voters", NODE_ID + "@" + controller),
                        Map.entry("controller.listener.names", "CONTROLLER"),
                        Map.entry("listeners", "PLAINTEXT://" + address + ",CONTROLLER://" + controller),
                        Map.entry("log.dirs", log),
                        // There are no others to keep copies or to wait for.
                        Map.entry("offsets.topic.replication.factor", "1"),
                        Map.entry("offsets.topic.num.partitions", "1"),
                        Map.entry("group.initial.rebalance.delay.ms", "0"),
                        // 128 MB otherwise.
                        Map.entry("log.cleaner.dedupe.buffer.size", "2097152"))),
                Time.SYSTEM);
        server.startup();
    }

    @Override
    public List<String> getBootstrapServers() {
        return List.of(address);
    }

    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }

    private static void format(String directory) throws Exception {
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setClusterId(CLUSTER_ID)
                .setNodeId(NODE_ID)
                .setControllerListenerName("CONTROLLER")
                .setSupportedFeatures(Feature.PRODUCTION_FEATURES)
                .setMetadataLogDirectory(directory)
                .addDirectory(directory)
                .setIgnoreFormatted(true)
                .run();
    }

    private static String freeAddress() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "localhost:" + socket.getLocalPort();
        }
    }
}
