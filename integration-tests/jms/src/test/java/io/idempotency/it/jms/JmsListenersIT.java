package io.idempotency.it.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import java.time.Duration;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.test.util.AopTestUtils;

/** Listeners on a broker in this process. */
@SpringBootTest(
        properties = {
            "spring.artemis.mode=embedded",
            "spring.artemis.embedded.persistent=false",
            "spring.jms.cache.enabled=false",
            "spring.datasource.url=jdbc:h2:mem:jms;DB_CLOSE_DELAY=-1",
            "spring.sql.init.mode=always",
            "idempotency.lease=10s"
        })
class JmsListenersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Autowired
    private JmsTemplate jms;

    @Autowired
    private EmbeddedActiveMQ broker;

    @Autowired
    private Listeners listeners;

    @Autowired
    private Ledger ledger;

    @Autowired
    private Work work;

    @Autowired
    private Deliveries deliveries;

    // A class proxy has the fields of its class and none of their values.
    @BeforeEach
    void lookBehindTheProxy() {
        listeners = AopTestUtils.getTargetObject(listeners);
    }

    private void send(String queue, String payload) {
        jms.convertAndSend(queue, payload);
    }

    private void send(String queue, String payload, @Nullable String key) {
        jms.convertAndSend(queue, payload, message -> {
            message.setStringProperty("Idempotency_Key", key);
            return message;
        });
    }

    private void sendWithoutId(String queue, String payload) {
        JmsTemplate anonymous = new JmsTemplate(jms.getConnectionFactory());
        anonymous.setMessageIdEnabled(false);
        anonymous.convertAndSend(queue, payload);
    }

    private void awaitLedger(String queue, String... entries) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ledger.of(queue)).containsExactlyInAnyOrder(entries));
    }

    // What is delivered and not acknowledged counts.
    private long messagesIn(String queue) {
        return broker.getActiveMQServer().locateQueue(queue).getMessageCount();
    }

    private void awaitEmpty(String queue) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(messagesIn(queue)).isZero());
    }

    private @Nullable Object deadLetterOf(String queue) {
        jms.setReceiveTimeout(PATIENCE.toMillis());
        return jms.receiveSelectedAndConvert("DLQ", "_AMQ_ORIG_QUEUE = '" + queue + "'");
    }

    // Cases 132 and 139: the effect of the first attempt is rolled back with its record.
    @Test
    void anInboxIsOneTransactionWithTheEffect() {
        send("inbox", "a");
        send("inbox", "a");
        send("inbox", "b");

        awaitLedger("inbox", "a", "b");
        awaitEmpty("inbox");
        assertThat(ledger.of("inbox")).containsExactlyInAnyOrder("a", "b");
        assertThat(work.attempts("inbox")).isEqualTo(3);
    }

    // Case 139: nothing is marked as done whose commit has failed.
    @Test
    void aCommitThatFailsLeavesNothingDone() {
        send("uncommitted", "a");
        send("uncommitted", "a");

        awaitLedger("uncommitted", "a");
        await().atMost(PATIENCE).until(() -> deliveries.of("uncommitted") == 3);
        awaitEmpty("uncommitted");
        assertThat(ledger.of("uncommitted")).containsExactly("a");
        assertThat(work.attempts("uncommitted")).isEqualTo(2);
    }

    @Test
    void aListenerThatIsSlowerThanItsLeaseKeepsItsKey() {
        send("slow", "a");
        send("slow", "a");

        awaitLedger("slow", "a");
        awaitEmpty("slow");
        assertThat(ledger.of("slow")).containsExactly("a");
        assertThat(work.attempts("slow")).isEqualTo(1);
    }

    // Case 132.
    @Test
    void attemptsAfterAFailureAreNoDuplicates() {
        send("flaky", "a");

        awaitLedger("flaky", "a");
        awaitEmpty("flaky");
        assertThat(work.attempts("flaky")).isEqualTo(3);
    }

    // Case 131: the duplicate goes back to the queue however often, is never acknowledged, and works when the first
    // fails.
    @Test
    void aDuplicateWaitsForTheFirstDeliveryInTheQueue() throws Exception {
        send("gated", "a");
        assertThat(work.gate().awaitReached()).isTrue();
        send("gated", "a");

        await().atMost(PATIENCE).until(() -> deliveries.of("gated") >= 3);
        assertThat(work.attempts("gated")).isEqualTo(1);
        assertThat(messagesIn("gated")).isEqualTo(2);
        work.gate().open();

        awaitLedger("gated", "a");
        awaitEmpty("gated");
        assertThat(ledger.of("gated")).containsExactly("a");
    }

    @Test
    void aConsumerThatDiesBeforeItsAcknowledgmentHasDoneItsWork() {
        listeners.kill = () ->
                broker.getActiveMQServer().getActiveMQServerControl().closeConsumerConnectionsForAddress("killed");
        send("killed", "a");

        await().atMost(PATIENCE).until(() -> deliveries.of("killed") >= 2);
        awaitEmpty("killed");
        assertThat(ledger.of("killed")).containsExactly("a");
        assertThat(work.attempts("killed")).isEqualTo(1);
    }

    @Test
    void anotherPayloadUnderTheSameKeyIsADeadLetterInTheEnd() {
        send("reused", "a", "k");
        awaitLedger("reused", "a");
        send("reused", "b", "k");
        send("reused", "a", "k");

        assertThat(deadLetterOf("reused")).isEqualTo("b");
        awaitEmpty("reused");
        assertThat(ledger.of("reused")).containsExactly("a");
    }

    @Test
    void anUnknownOutcomeIsADeadLetterAndNoSecondRun() {
        send("unknown", "a");

        assertThat(deadLetterOf("unknown")).isEqualTo("a");
        assertThat(deliveries.of("unknown")).isEqualTo(JmsApplication.MAX_DELIVERIES);
        assertThat(work.attempts("unknown")).isEqualTo(1);
    }

    // Case 135.
    @Test
    void messagesWithoutAnIdAreNotOneMessage() {
        sendWithoutId("ids", "none");
        assertThat(deadLetterOf("ids")).isEqualTo("none");
        sendWithoutId("ids", "none either");
        assertThat(deadLetterOf("ids")).isEqualTo("none either");
        send("ids", "a");
        send("ids", "b");
        awaitLedger("ids", "a", "b");

        sendWithoutId("optional", "a");
        sendWithoutId("optional", "b");
        awaitLedger("optional", "a", "b");
    }

    @Test
    void everyQueueWorksOnAMessageOnce() {
        send("one", "a");
        send("two", "a");
        send("one", "a");
        send("two", "a");

        awaitLedger("both", "one a", "two a");
        awaitEmpty("one");
        awaitEmpty("two");
        assertThat(ledger.of("both")).containsExactlyInAnyOrder("one a", "two a");
    }
}
