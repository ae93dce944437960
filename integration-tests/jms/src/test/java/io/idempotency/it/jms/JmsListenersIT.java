package io.idempotency.it.jms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import io.idempotency.spring.client.ChildKeyJmsTemplate;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jms.core.JmsMessagingTemplate;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.test.util.AopTestUtils;

/** Listeners on a broker in this process. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
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
    private IdempotencyTemplate actions;

    @LocalServerPort
    private int port;

    @Autowired
    private Shipping shipping;

    @Autowired
    private Shipping.Messages messages;

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

    // The same operation and the same key, whichever door the call comes in by first.
    @Test
    void aServiceBehindThreeDoorsHasOneRecord() throws Exception {
        String byRequest = request("a");
        assertThat(shipping.ship("a")).isEqualTo(byRequest);
        send("orders", "a");
        awaitParcels(byRequest);
        assertThat(request("a")).isEqualTo(byRequest);

        send("orders", "b");
        await().atMost(PATIENCE).until(() -> messages.parcels().size() == 2);
        String byMessage = messages.parcels().get(1);
        assertThat(shipping.ship("b")).isEqualTo(byMessage);
        assertThat(request("b")).isEqualTo(byMessage);

        String byMethod = shipping.ship("c");
        assertThat(request("c")).isEqualTo(byMethod);
        send("orders", "c");
        awaitParcels(byRequest, byMessage, byMethod);

        assertThat(ledger.of("parcels")).containsExactly("a", "b", "c");
    }

    private String request(String order) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/orders/" + order + "/parcel"))
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private void awaitParcels(String... parcels) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(messages.parcels()).containsExactly(parcels));
    }

    // Both attempts of the action send both messages, and the consumer works on each once.
    @Test
    void whatAnActionSendsAgainIsADuplicate() throws JMSException {
        ChildKeyJmsTemplate template = new ChildKeyJmsTemplate(jms.getConnectionFactory());
        IdempotentOperation<String> order = IdempotentOperation.named("order", String.class)
                .guarantee(Guarantee.AT_LEAST_ONCE)
                .build();
        AtomicInteger attempts = new AtomicInteger();
        IdempotencyTemplate.Action<String, IllegalStateException> action = () -> {
            template.convertAndSend("children", "bread");
            template.convertAndSend("children", "bread");
            new JmsMessagingTemplate(template).convertAndSend("children", "milk");
            if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("after the messages");
            }
            return "done";
        };

        assertThatThrownBy(() -> actions.execute(order, "o", action)).isInstanceOf(IllegalStateException.class);
        actions.execute(order, "o", action);

        await().atMost(PATIENCE).until(() -> deliveries.of("children") == 6);
        awaitLedger("children", "bread", "bread", "milk");
        awaitEmpty("children");
        assertThat(ledger.of("children")).hasSize(3);

        // Outside of an action there is no key, and one that is there is kept.
        template.convertAndSend("keys", "none");
        assertThat(propertyOfTheNext("keys", "Idempotency_Key")).isNull();
        actions.execute(order, "p", () -> {
            template.convertAndSend("keys", "own", message -> {
                message.setStringProperty("Idempotency_Key", "own");
                return message;
            });
            return "done";
        });
        assertThat(propertyOfTheNext("keys", "Idempotency_Key")).isEqualTo("own");
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheMessage() throws JMSException {
        ChildKeyJmsTemplate template = new ChildKeyJmsTemplate(jms.getConnectionFactory());
        template.setRequestId("requestId", "X_Request_Id");
        template.convertAndSend("unread", "received before");
        jms.setReceiveTimeout(PATIENCE.toMillis());
        Message received = jms.receive("unread");

        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1")) {
            template.convertAndSend("unread", "a");
            template.convertAndSend("unread", "own", message -> {
                message.setStringProperty("X_Request_Id", "of its own");
                return message;
            });
            template.send("unread", session -> received);
        }
        template.convertAndSend("unread", "b");

        assertThat(propertyOfTheNext("unread", "X_Request_Id")).isEqualTo("r-1");
        assertThat(propertyOfTheNext("unread", "X_Request_Id")).isEqualTo("of its own");
        assertThat(propertyOfTheNext("unread", "X_Request_Id"))
                .as("cannot be changed")
                .isNull();
        assertThat(propertyOfTheNext("unread", "X_Request_Id")).isNull();
    }

    @Test
    void aNameThatNoPropertyCanHaveIsRefused() {
        ChildKeyJmsTemplate template = new ChildKeyJmsTemplate(jms.getConnectionFactory());

        assertThatThrownBy(() -> template.setRequestId("requestId", "X-Request-Id"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'X-Request-Id'");
        assertThatThrownBy(() -> new ChildKeyJmsTemplate(jms.getConnectionFactory(), "Idempotency-Key"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("underscores");
    }

    private @Nullable String propertyOfTheNext(String queue, String property) throws JMSException {
        jms.setReceiveTimeout(PATIENCE.toMillis());
        return jms.receive(queue).getStringProperty(property);
    }
}
