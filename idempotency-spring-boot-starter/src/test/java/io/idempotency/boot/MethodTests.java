package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What tests of annotated methods of beans that are no controllers share. */
abstract class MethodTests extends BeanTests {

    public record Payment(@Nullable String number, BigDecimal amount) {}

    public record Receipt(String number, BigDecimal amount, int run) {}

    public static class Payments {

        final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

        private int ran(String name) {
            return runs.computeIfAbsent(name, absent -> new AtomicInteger()).incrementAndGet();
        }

        @Idempotent(key = "#payment.number")
        public Receipt pay(Payment payment) {
            return new Receipt(payment.number(), payment.amount(), ran("pay"));
        }

        @Idempotent(key = "#payment.number", required = Toggle.OFF)
        public void payOptional(@Nullable Payment payment) {
            ran("payOptional");
        }

        @Idempotent(key = "#key")
        public void nothing(String key) {
            ran("nothing");
        }

        @Idempotent(key = "#key")
        public @Nullable String nullText(String key) {
            ran("nullText");
            return null;
        }

        @Idempotent(key = "#key")
        public @Nullable Integer nullBoxed(String key) {
            ran("nullBoxed");
            return null;
        }

        @Idempotent(key = "#key")
        public Optional<String> empty(String key) {
            ran("empty");
            return Optional.empty();
        }

        @Idempotent(key = "#key")
        public Optional<String> present(String key) {
            ran("present");
            return Optional.of(key);
        }

        @Idempotent(key = "#key")
        public int zero(String key) {
            ran("zero");
            return 0;
        }

        @Idempotent(key = "#key")
        public boolean no(String key) {
            ran("no");
            return false;
        }

        @Idempotent(key = "#key")
        public List<Receipt> list(String key) {
            return List.of(new Receipt(key, BigDecimal.ONE, ran("list")));
        }

        @Idempotent(key = "#key")
        public List<Receipt> none(String key) {
            ran("none");
            return List.of();
        }
    }

    public static class Accounts {

        final AtomicInteger runs = new AtomicInteger();

        @Idempotent(key = "#id")
        public String debit(String id) {
            runs.incrementAndGet();
            return "debit " + id;
        }

        @Idempotent(key = "#id")
        public String credit(String id) {
            runs.incrementAndGet();
            return "credit " + id;
        }

        @Idempotent(key = "#id", operation = "run-int")
        public String run(int id) {
            runs.incrementAndGet();
            return "int " + id;
        }

        @Idempotent(key = "#id", operation = "run-text")
        public String run(String id) {
            runs.incrementAndGet();
            return "text " + id;
        }
    }

    static class Ambient {

        @Idempotent
        public String pay() {
            return "paid";
        }
    }
}
