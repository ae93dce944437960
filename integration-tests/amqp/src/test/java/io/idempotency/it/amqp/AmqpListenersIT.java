package io.idempotency.it.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.slf4j.MDC;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.Exchange;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.util.AopTestUtils;

/** Listeners on a broker that speaks AMQP 0-9-1. */
@SpringBootTest(
        properties = {
            "spring.rabbitmq.listener.simple.prefetch=1",
            "spring.datasource.url=jdbc:h2:mem:amqp;DB_CLOSE_DELAY=-1",
            "spring.sql.init.mode=always",
            "idempotency.lease=10s"
        })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AmqpListenersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    // Nothing is rejected there.
    private static final String UNREAD = "optional_DLQ";

    @Autowired
    private RabbitTemplate rabbit;

    @Autowired
    private RabbitAdmin admin;

    @Autowired
    private Listeners listeners;

    @Autowired
    private Ledger ledger;

    @Autowired
    private Work work;

    @Autowired
    private Deliveries deliveries;

    @Autowired
    private Declarables declarables;

    @Autowired
    private RabbitListenerEndpointRegistry containers;

    @DynamicPropertySource
    static void broker(DynamicPropertyRegistry registry) {
        AmqpBroker.connect(registry::add);
    }

    // A class proxy has the fields of its class and none of their values.
    @BeforeEach
    void lookBehindTheProxy() {
        listeners = AopTestUtils.getTargetObject(listeners);
    }

    private void send(String queue, String body, @Nullable String messageId) {
        rabbit.convertAndSend("", queue, body, message -> {
            message.getMessageProperties().setMessageId(messageId);
            return message;
        });
    }

    private void awaitLedger(String queue, String... entries) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ledger.of(queue)).containsExactlyInAnyOrder(entries));
    }

    private void awaitEmpty(String queue) {
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(admin.getQueueInfo(queue).getMessageCount()).isZero());
    }

    // A consumer that stops gives back what it has not acknowledged.
    @AfterAll
    void everythingIsAcknowledged() {
        containers.stop();
        Map<String, Long> left = new HashMap<>();
        for (Queue queue : declarables.getDeclarablesByType(Queue.class)) {
            left.put(queue.getName(), admin.getQueueInfo(queue.getName()).getMessageCount());
        }
        if (AmqpBroker.isNamed()) {
            left.keySet().forEach(admin::deleteQueue);
            declarables.getDeclarablesByType(Exchange.class).forEach(each -> admin.deleteExchange(each.getName()));
        }
        assertThat(left.values()).as(left.toString()).containsOnly(0L);
    }

    private String deadLetterOf(String queue) {
        Message dead = rabbit.receive(queue + "_DLQ", PATIENCE.toMillis());
        assertThat(dead).isNotNull();
        return new String(dead.getBody(), StandardCharsets.UTF_8);
    }

    // Cases 132 and 139: the effect of the first attempt is rolled back with its record.
    @Test
    void anInboxIsOneTransactionWithTheEffect() {
        send("inbox", "a", null);
        send("inbox", "a", null);
        send("inbox", "b", null);

        awaitLedger("inbox", "a", "b");
        awaitEmpty("inbox");
        assertThat(ledger.of("inbox")).containsExactlyInAnyOrder("a", "b");
        assertThat(deliveries.of("inbox")).isEqualTo(4);
    }

    // Case 139: nothing is marked as done whose commit has failed.
    @Test
    void aCommitThatFailsLeavesNothingDone() {
        send("uncommitted", "a", null);
        send("uncommitted", "a", null);

        awaitLedger("uncommitted", "a");
        await().atMost(PATIENCE).until(() -> deliveries.of("uncommitted") == 3);
        awaitEmpty("uncommitted");
        assertThat(ledger.of("uncommitted")).containsExactly("a");
        assertThat(work.attempts("uncommitted")).isEqualTo(2);
    }

    @Test
    void aListenerThatIsSlowerThanItsLeaseKeepsItsKey() {
        send("slow", "a", null);
        send("slow", "a", null);

        awaitLedger("slow", "a");
        awaitEmpty("slow");
        assertThat(ledger.of("slow")).containsExactly("a");
        assertThat(work.attempts("slow")).isEqualTo(1);
    }

    // Case 133: the duplicate is acknowledged though the method is not called.
    @Test
    void aDuplicateIsAcknowledgedWhereTheListenerAcknowledgesItself() {
        send("manual", "a", "m-1");
        send("manual", "a", "m-1");
        send("manual", "b", "m-2");
        send("manual", "a", "m-1");

        awaitLedger("manual", "a", "b");
        awaitEmpty("manual");
        assertThat(ledger.of("manual")).containsExactly("a", "b");
        assertThat(deliveries.of("manual")).isEqualTo(4);
    }

    // Case 132.
    @Test
    void attemptsAfterAFailureAreNoDuplicates() {
        send("flaky", "a", null);

        awaitLedger("flaky", "a");
        awaitEmpty("flaky");
        assertThat(work.attempts("flaky")).isEqualTo(3);
    }

    // Case 131: the duplicate goes back to the queue however often, is never acknowledged, and works when the first
    // fails.
    @Test
    void aDuplicateWaitsForTheFirstDeliveryInTheQueue() throws Exception {
        send("gated", "a", null);
        assertThat(work.gate().awaitReached()).isTrue();
        send("gated", "a", null);

        await().atMost(PATIENCE).until(() -> deliveries.of("gated") >= 4);
        assertThat(work.attempts("gated")).isEqualTo(1);
        if (!AmqpBroker.isNamed()) {
            assertThat(admin.getQueueInfo("gated").getMessageCount()).isEqualTo(2);
        }
        work.gate().open();

        awaitLedger("gated", "a");
        awaitEmpty("gated");
        assertThat(ledger.of("gated")).containsExactly("a");
        assertThat(rabbit.receive("gated_DLQ")).isNull();
    }

    // Case 131, where the container would leave the message with the consumer.
    @Test
    void aDuplicateWaitsInTheQueueWhereTheListenerAcknowledgesItself() throws Exception {
        send("manual-gated", "a", "m");
        assertThat(listeners.manualGate.awaitReached()).isTrue();
        send("manual-gated", "a", "m");
        send("manual-gated", "b", "m");

        await().atMost(PATIENCE).until(() -> deliveries.of("manual-gated") >= 4);
        listeners.manualGate.open();

        assertThat(deadLetterOf("manual-gated")).isEqualTo("b");
        awaitEmpty("manual-gated");
        assertThat(ledger.of("manual-gated")).containsExactly("a");
    }

    @Test
    void aConsumerThatDiesBeforeItsAcknowledgmentHasDoneItsWork() {
        send("killed", "a", null);

        await().atMost(PATIENCE).until(() -> deliveries.of("killed") >= 2);
        awaitEmpty("killed");
        assertThat(ledger.of("killed")).containsExactly("a");
        assertThat(work.attempts("killed")).isEqualTo(1);
    }

    @Test
    void anotherPayloadUnderTheSameKeyIsADeadLetterAtOnce() {
        send("reused", "a", "m-1");
        awaitLedger("reused", "a");
        send("reused", "b", "m-1");

        assertThat(deadLetterOf("reused")).isEqualTo("b");
        assertThat(ledger.of("reused")).containsExactly("a");
        assertThat(deliveries.of("reused")).isEqualTo(2);
    }

    @Test
    void anUnknownOutcomeIsADeadLetterAndNoSecondRun() {
        send("unknown", "a", null);

        assertThat(deadLetterOf("unknown")).isEqualTo("a");
        awaitEmpty("unknown");
        assertThat(work.attempts("unknown")).isEqualTo(1);
    }

    // Case 135.
    @Test
    void messagesWithoutAnIdAreNotOneMessage() {
        send("ids", "none", null);
        assertThat(deadLetterOf("ids")).isEqualTo("none");
        send("ids", "empty", "");
        assertThat(deadLetterOf("ids")).isEqualTo("empty");
        send("ids", "good", "m");
        awaitLedger("ids", "good");

        send("headers", "none", "an id that the listener does not see");
        assertThat(deadLetterOf("headers")).isEqualTo("none");

        send("optional", "a", null);
        send("optional", "b", "");
        send("optional", "c", null);
        awaitLedger("optional", "a", "b", "c");
    }

    @Test
    void whatALaterAttemptSendsAgainIsADuplicate() {
        send("relay", "a", null);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(work.attempts("relay")).isEqualTo(2));
        send("relayed", "the end", "end");

        awaitLedger("relayed", "a", "the end");
        assertThat(deliveries.of("relayed")).isEqualTo(3);
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheMessage() {
        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1")) {
            rabbit.convertAndSend("", UNREAD, "a");
            rabbit.convertAndSend("", UNREAD, "own", message -> {
                message.getMessageProperties().setHeader("X-Request-Id", "of its own");
                return message;
            });
        }
        rabbit.convertAndSend("", UNREAD, "b");

        assertThat(requestIdOfTheNext()).isEqualTo("r-1");
        assertThat(requestIdOfTheNext()).isEqualTo("of its own");
        assertThat(requestIdOfTheNext()).isNull();
    }

    private @Nullable Object requestIdOfTheNext() {
        Message message = rabbit.receive(UNREAD, PATIENCE.toMillis());
        assertThat(message).isNotNull();
        return message.getMessageProperties().getHeader("X-Request-Id");
    }

    @Test
    void everyQueueWorksOnAMessageOnce() {
        rabbit.convertAndSend("both", "", "a");
        rabbit.convertAndSend("both", "", "a");

        awaitLedger("both", "one a", "two a");
        awaitEmpty("one");
        awaitEmpty("two");
        assertThat(ledger.of("both")).containsExactlyInAnyOrder("one a", "two a");
    }
}
