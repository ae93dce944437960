package io.idempotency.it.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.listeners.Gate;
import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.util.AopTestUtils;

/** What the manual says of containers in transactions of Kafka: what is in them, and what is not. */
@OnEmbeddedKafka
class KafkaTransactionsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @Autowired
    private KafkaTemplate<String, String> kafka;

    @Autowired
    private ConsumerFactory<String, String> consumers;

    @Autowired
    private GroupOffsets offsets;

    @Autowired
    private Ledger ledger;

    @Autowired
    private Work work;

    @Autowired
    private Deliveries deliveries;

    @Autowired
    private TransactionalListeners listeners;

    // Case 139: nothing is marked as done before the outcome is known.
    @Test
    void whatAFailedAttemptSentIsRolledBackWithItsEffect() {
        kafka.send("ordered", 0, null, "a").join();
        kafka.send("ordered", 0, null, "a").join();

        offsets.awaitNoLag("ordered");

        assertThat(ledger.of("ordered")).containsExactly("a");
        assertThat(work.attempts("ordered")).isEqualTo(2);
        assertThat(committedIn("paid")).containsExactly("a");
    }

    // The limit of it: the record of the library is in the transaction of the database, which was committed first.
    @Test
    void whatWasSentIsLostWhereTheProcessDiesBetweenTheTwoCommits() {
        kafka.send("packed", 0, null, "a").join();

        offsets.awaitNoLag("packed");

        assertThat(ledger.of("packed")).containsExactly("a");
        assertThat(work.attempts("between the commits")).isEqualTo(2);
        assertThat(committedIn("shipped")).isEmpty();
    }

    // Case 131.
    @Test
    void aRedeliveryWaitsForTheFirstDeliveryHoweverLong() throws Exception {
        kafka.send("queried", 0, null, "a").join();
        Gate gate = AopTestUtils.<TransactionalListeners>getTargetObject(listeners).gate;
        assertThat(gate.awaitReached()).isTrue();
        kafka.send("queried", 1, null, "a").join();
        kafka.send("queried", 2, null, "a").join();

        // More than the ten attempts after which such a container gives up by itself.
        await().atMost(PATIENCE).until(() -> deliveries.of("queried") > 12);
        assertThat(work.attempts("queried")).isZero();
        gate.open();
        offsets.awaitNoLag("queried");

        assertThat(ledger.of("queried")).containsExactly("a");
        assertThat(committedIn("answered")).containsExactly("a");
    }

    /** What a consumer gets that leaves out what was rolled back. */
    private List<String> committedIn(String topic) {
        Properties committed = new Properties();
        committed.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        List<TopicPartition> partitions = IntStream.range(0, 3)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        List<String> values = new ArrayList<>();
        try (Consumer<String, String> consumer = consumers.createConsumer("committed-in-" + topic, "", "", committed)) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(record.value()));
            }
        }
        return values;
    }
}
