package io.idempotency.it.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import io.idempotency.spring.messaging.PatientErrorHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.SendResult;
import org.springframework.test.util.AopTestUtils;

/** Listeners on a real broker in this process. */
@OnEmbeddedKafka
class KafkaListenersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    // 100 000 and consumer kills every few seconds: -Didempotency.it.kafka.messages=100000
    private static final int MESSAGES = Integer.getInteger("idempotency.it.kafka.messages", 500);

    private static final Duration KILL_EVERY = Duration.ofSeconds(MESSAGES < 10_000 ? 1 : 5);

    @Autowired
    private KafkaTemplate<String, String> kafka;

    @Autowired
    private Listeners listeners;

    @Autowired
    private Ledger ledger;

    @Autowired
    private Work work;

    @Autowired
    private Outage outage;

    @Autowired
    private KafkaListenerEndpointRegistry registry;

    @Autowired
    private GroupOffsets offsets;

    @Autowired
    private Deliveries deliveries;

    // A class proxy has the fields of its class and none of their values.
    @BeforeEach
    void lookBehindTheProxy() {
        listeners = AopTestUtils.getTargetObject(listeners);
    }

    private void send(String topic, int partition, String value, @Nullable String key) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, partition, value, value);
        if (key != null) {
            record.headers().add("Idempotency-Key", key.getBytes(StandardCharsets.UTF_8));
        }
        kafka.send(record).join();
    }

    private void awaitLedger(String topic, String... entries) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ledger.of(topic)).containsExactlyInAnyOrder(entries));
    }

    @Test
    void everyContainerIsPatient() {
        assertThat(registry.getListenerContainers())
                .filteredOn(container -> container.getContainerProperties().getKafkaAwareTransactionManager() == null)
                .isNotEmpty()
                .allSatisfy(container -> assertThat(
                                ((AbstractMessageListenerContainer<?, ?>) container).getCommonErrorHandler())
                        .isInstanceOf(PatientErrorHandler.class));
    }

    // Cases 132 and 139: the effect of the first attempt is rolled back with its record.
    @Test
    void anInboxIsOneTransactionWithTheEffect() {
        send("inbox", 0, "a", null);
        send("inbox", 0, "a", null);
        send("inbox", 1, "a", null);
        send("inbox", 1, "b", null);

        awaitLedger("inbox", "a", "b");
        assertThat(work.attempts("inbox")).isEqualTo(3);
    }

    // Case 133: the duplicate is acknowledged though the method is not called, and the partition moves on.
    @Test
    void aDuplicateOfADoneRecordIsAcknowledged() throws Exception {
        send("manual", 0, "a", "k-1");
        send("manual", 0, "a", "k-1");
        send("manual", 0, "b", "k-2");
        send("manual", 0, "a", "k-1");

        awaitLedger("manual", "a", "b");
        offsets.awaitNoLag("manual");
        assertThat(ledger.of("manual")).containsExactly("a", "b");
    }

    // Case 133, where each record is acknowledged by itself.
    @Test
    void aDuplicateOfADoneRecordIsAcknowledgedByItself() {
        send("recorded", 0, "a", null);
        send("recorded", 0, "a", null);
        send("recorded", 0, "b", null);

        offsets.awaitNoLag("recorded");

        assertThat(ledger.of("recorded")).containsExactly("a", "b");
        assertThat(deliveries.of("recorded")).isEqualTo(3);
    }

    // Case 139: nothing is marked as done whose commit has failed.
    @Test
    void aCommitThatFailsLeavesNothingDone() {
        send("uncommitted", 0, "a", null);
        send("uncommitted", 0, "a", null);

        offsets.awaitNoLag("uncommitted");

        assertThat(ledger.of("uncommitted")).containsExactly("a");
        assertThat(work.attempts("uncommitted")).isEqualTo(2);
    }

    @Test
    void aConsumerThatDiesBeforeItsAcknowledgmentHasDoneItsWork() throws Exception {
        send("again", 0, "a", null);
        send("again", 1, "b", null);
        offsets.awaitNoLag("again");
        MessageListenerContainer container = registry.getListenerContainer("again");
        container.stop();

        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            offsets.rewind("again");
            return true;
        });
        container.start();
        await().atMost(PATIENCE).until(() -> deliveries.of("again") == 4);
        offsets.awaitNoLag("again");

        assertThat(ledger.of("again")).containsExactlyInAnyOrder("a", "b");
        assertThat(work.attempts("again")).isEqualTo(2);
    }

    // Its record is delivered to another consumer, which leaves it to the first one.
    @Test
    void aListenerThatIsSlowerThanItsPollIntervalKeepsItsKey() throws Exception {
        send("overdue", 0, "a", null);
        assertThat(listeners.overdue.awaitReached()).isTrue();

        await().atMost(PATIENCE).until(() -> deliveries.of("overdue") >= 2);
        listeners.overdue.open();
        offsets.awaitNoLag("overdue");

        assertThat(ledger.of("overdue")).containsExactly("a");
        assertThat(work.attempts("overdue")).isEqualTo(1);
    }

    // Case 132.
    @Test
    void attemptsAfterAFailureAreNoDuplicates() {
        send("flaky", 0, "a", null);

        awaitLedger("flaky", "a");
        assertThat(work.attempts("flaky")).isEqualTo(3);
    }

    // Case 131: the redelivery outlives the application's own retries, is never acknowledged, and works when the first
    // one fails.
    @Test
    void aRedeliveryWaitsForTheFirstDeliveryHoweverLong() throws Exception {
        send("gated", 0, "a", null);
        assertThat(work.gate().awaitReached()).isTrue();
        send("gated", 1, "a", null);
        send("gated", 2, "a", null);

        // Far more than five retries of 10 ms.
        await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
        assertThat(KafkaApplication.GIVEN_UP).doesNotContain("gated a");
        assertThat(work.attempts("gated")).isEqualTo(1);
        work.gate().open();

        awaitLedger("gated", "a");
        assertThat(KafkaApplication.GIVEN_UP).doesNotContain("gated a");
    }

    @Test
    void aRecordOutlastsAStoreThatIsSilent() {
        outage.begin();
        try {
            send("outage", 0, "a", null);
            // Far more than five retries of 10 ms.
            await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
        } finally {
            outage.end();
        }

        awaitLedger("outage", "a");
        assertThat(KafkaApplication.GIVEN_UP).doesNotContain("outage a");
    }

    // Case 135.
    @Test
    void recordsWithoutAKeyAreNotOneRecord() {
        send("headers", 0, "no key", null);
        send("headers", 0, "empty", "");
        send("headers", 0, "blank", " ");
        send("headers", 0, "good", "k");

        awaitLedger("headers", "good");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(KafkaApplication.GIVEN_UP)
                        .contains("headers no key", "headers empty", "headers blank"));

        send("optional", 0, "a", null);
        send("optional", 0, "b", "");
        send("optional", 0, "c", null);
        awaitLedger("optional", "a", "b", "c");
    }

    @Test
    void everyGroupWorksOnARecordOnce() {
        send("groups", 0, "a", null);
        send("groups", 0, "a", null);
        send("groups", 1, "b", null);

        awaitLedger("groups", "one a", "two a", "one b", "two b");
    }

    @Test
    void aListenerThatIsSlowerThanItsLeaseKeepsItsKey() {
        send("slow", 0, "a", null);
        send("slow", 1, "a", null);
        send("slow", 0, "b", null);

        awaitLedger("slow", "a", "b");
        assertThat(work.attempts("slow")).isEqualTo(2);
    }

    @Test
    void aRecordInTheDeadLetterTopicCanBeDrivenAgain() {
        send("retried", 0, "a", null);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(listeners.dead).contains("a"));
        assertThat(listeners.retried).hasValue(2);

        listeners.healthy = true;
        send("retried", 0, "a", null);
        awaitLedger("retried", "a");
        send("retried", 1, "a", null);
        send("retried", 1, "b", null);
        awaitLedger("retried", "a", "b");
    }

    @Test
    void whatALaterAttemptSendsAgainIsADuplicate() {
        send("relay", 0, "a", null);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(work.attempts("relay")).isEqualTo(2));
        send("relayed", 0, "the end", "end");

        awaitLedger("relayed", "a", "the end");
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheRecord() {
        ProducerRecord<String, String> own = new ProducerRecord<>("unread", "own");
        own.headers().add("X-Request-Id", "of its own".getBytes(StandardCharsets.UTF_8));
        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1")) {
            assertThat(requestIdOf(kafka.send("unread", "a").join())).isEqualTo("r-1");
            assertThat(requestIdOf(kafka.send(own).join())).isEqualTo("of its own");
        }
        assertThat(requestIdOf(kafka.send("unread", "b").join())).isNull();
    }

    /** As a consumer sees it. */
    private @Nullable String requestIdOf(SendResult<String, String> sent) {
        RecordMetadata where = sent.getRecordMetadata();
        Header header = kafka.receive(where.topic(), where.partition(), where.offset(), PATIENCE)
                .headers()
                .lastHeader("X-Request-Id");
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    @Test
    void whatCannotBecomeBetterIsADeadLetterWithoutRetries() throws Exception {
        send("reused", 0, "first", "k");
        awaitLedger("reused", "first");
        send("reused", 0, "other payload", "k");

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(listeners.dead).contains("other payload"));
        assertThat(ledger.of("reused")).containsExactly("first");
        assertThat(offsets.end("reused-retry", 0)).isZero();
    }

    // Rebalances and consumers that die between the commit of the effect and that of the offset.
    @Test
    void everyMessageIsWorkedOnOnceThroughRebalancesAndKills() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Integer> deliveries = new ArrayList<>();
        IntStream.range(0, MESSAGES).forEach(id -> {
            deliveries.add(id);
            if (random.nextInt(4) == 0) {
                deliveries.add(id);
            }
        });
        Collections.shuffle(deliveries, random);
        ConcurrentMessageListenerContainer<?, ?> container =
                (ConcurrentMessageListenerContainer<?, ?>) registry.getListenerContainer("soak");
        int kills = Math.max(3, MESSAGES / 20_000);
        int sent = 0;
        for (int kill = 0; kill <= kills; kill++) {
            int until = (int) ((long) deliveries.size() * (kill + 1) / (kills + 1));
            List<CompletableFuture<?>> sends = new ArrayList<>();
            for (; sent < until; sent++) {
                sends.add(kafka.send("soak", random.nextInt(3), null, String.valueOf(deliveries.get(sent))));
            }
            sends.forEach(CompletableFuture::join);
            if (kill < kills) {
                restart(container, random.nextInt(MESSAGES));
            }
        }
        AtomicInteger before = new AtomicInteger();
        await().atMost(PATIENCE.plusMillis(MESSAGES * 20L))
                .pollInterval(KILL_EVERY)
                .until(() -> {
                    int done = ledger.distinct("soak");
                    // Not again before something has been done: a group needs some time to come back.
                    if (done < MESSAGES && done > before.getAndSet(done)) {
                        restart(container, random.nextInt(MESSAGES));
                    }
                    return done == MESSAGES;
                });
        offsets.awaitNoLag("soak");
        assertThat(ledger.count("soak")).as("seed %d", seed).isEqualTo(MESSAGES);
    }

    // One consumer ends at once, which leaves what it has polled to the others; then all of them end and come back.
    private static void restart(ConcurrentMessageListenerContainer<?, ?> container, int after) {
        MessageListenerContainer child =
                container.getContainers().get(after % container.getContainers().size());
        child.getContainerProperties().setStopImmediate(true);
        child.stop();
        container.getContainerProperties().setStopImmediate(true);
        container.stop();
        container.start();
    }
}
