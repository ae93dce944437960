package io.idempotency.it.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.stereotype.Component;

/** Where a consumer group is in its topic, which has its name. */
@Component
class GroupOffsets {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int PARTITIONS = 3;

    private final KafkaAdmin admin;

    GroupOffsets(KafkaAdmin admin) {
        this.admin = admin;
    }

    /** Waits until everything is acknowledged. */
    void awaitNoLag(String group) {
        try (Admin client = Admin.create(admin.getConfigurationProperties())) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(committed(client, group))
                            .isEqualTo(all(group, partition -> end(client, partition))));
        }
    }

    /** How many records there are. */
    long end(String topic, int partition) {
        try (Admin client = Admin.create(admin.getConfigurationProperties())) {
            return end(client, new TopicPartition(topic, partition));
        }
    }

    /** Delivers everything again. The group must have no consumers. */
    void rewind(String group) throws Exception {
        try (Admin client = Admin.create(admin.getConfigurationProperties())) {
            client.alterConsumerGroupOffsets(group, all(group, partition -> new OffsetAndMetadata(0)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static Map<TopicPartition, Long> committed(Admin client, String group) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> known = client.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get(30, TimeUnit.SECONDS);
        return all(
                group,
                partition -> known.containsKey(partition) ? known.get(partition).offset() : 0L);
    }

    private static long end(Admin client, TopicPartition partition) {
        try {
            return client.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get(30, TimeUnit.SECONDS)
                    .offset();
        } catch (Exception e) {
            throw new IllegalStateException("The broker does not say how long " + partition + " is", e);
        }
    }

    private static <V> Map<TopicPartition, V> all(String topic, Function<TopicPartition, V> value) {
        return IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .collect(Collectors.toMap(Function.identity(), value));
    }
}
