package io.idempotency.samples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** One order is published twice, the publisher dies, the consumer dies, each at its worst moment: the ledger holds every order once. */
class OrderEventsIT {

    private static final Pattern ORDER_ID = Pattern.compile("\"orderId\":(\\d+)");

    @Test
    void paysEveryOrderOnceThroughDuplicatesAndCrashes() throws Exception {
        Path directory =
                Files.createTempDirectory(Files.createDirectories(Path.of("target", "order-events-it")), "run-");

        try (var process = new OrderEventsProcess(directory)) {
            HttpResponse<String> first = process.order("k-1", "duplicate");
            process.awaitOutput("Order 1 paid", "Order 1 has been paid, duplicate skipped");
            HttpResponse<String> retry = process.order("k-1", "duplicate");
            assertThat(first.statusCode()).isEqualTo(201);
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");

            process.orderAndAwaitExit("k-2", "crash-after-publish");
            assertThat(process.output()).contains("Crash: order 2");
        }

        try (var process = new OrderEventsProcess(directory)) {
            // The event is there twice. Whether the first one was paid before the crash, nobody knows.
            process.awaitOutput("Order 2 published", "Order 2 has been paid, duplicate skipped");
            HttpResponse<String> retry = process.order("k-2", "crash-after-publish");
            assertThat(retry.headers().firstValue("Location")).hasValue("/orders/2");
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");

            process.orderAndAwaitExit("k-3", "crash-after-commit");
            assertThat(process.output()).contains("Crash: order 3").doesNotContain("Order 3 has been paid");
        }

        try (var process = new OrderEventsProcess(directory)) {
            process.awaitOutput("Order 3 has been paid, duplicate skipped");
            // In one partition what comes first is worked on first: when this one is paid, nothing else is left.
            process.order("k-4", "nothing");
            process.awaitOutput("Order 4 paid");
            assertThat(process.output()).doesNotContain("Order 3 paid");
            assertThat(paidOrders(process)).containsExactly("4", "3", "2", "1");
        }
    }

    private static List<String> paidOrders(OrderEventsProcess process) throws IOException {
        return ORDER_ID.matcher(process.get("/payments"))
                .results()
                .map(match -> match.group(1))
                .toList();
    }
}
