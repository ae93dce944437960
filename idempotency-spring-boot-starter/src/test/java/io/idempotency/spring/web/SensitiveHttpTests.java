package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Case 128: bodies that nobody may read in a store or a log; and comparisons of an application's own. */
@ExtendWith(OutputCaptureExtension.class)
class SensitiveHttpTests {

    private static final String SECRET = "s3cr3t-XYZ";

    private static TestServer server;

    private final String key = TestServer.newKey();

    @BeforeAll
    static void start() {
        server = TestServer.start(Sealed.class, "logging.level.io.idempotency=debug");
    }

    @AfterAll
    static void stop() {
        server.close();
        org.springframework.boot.logging.LoggingSystem.get(SensitiveHttpTests.class.getClassLoader())
                .setLogLevel("io.idempotency", null);
    }

    private Answer post(String path) {
        return server.post("/sensitive/" + path, key, "{\"card\":\"4111-" + SECRET + "\"}");
    }

    private IdempotencyRecord record(String operation, String path) {
        IdempotencyStore store = server.bean(IdempotencyEngine.class).store();
        return store.find(RecordId.of(operation, HttpScope.of(null, "", "POST", "/sensitive/" + path), key))
                .orElseThrow();
    }

    /** Case 128: opted out, so that only the fact is kept. */
    @Test
    void keepsNothingOfABodyThatIsNotToBeStored() {
        Answer first = post("unstored");
        Answer second = post("unstored");

        assertThat(first.text()).contains(SECRET);
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(second.text()).doesNotContain(SECRET);
        assertThat(stored("unstored", "unstored")).doesNotContain(SECRET);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 128: sealed by a transformer, so that the store is not readable and the replay is right. */
    @Test
    void sealsWhatItStores() {
        Answer first = post("sealed");
        Answer second = post("sealed");

        assertThat(first.text()).contains(SECRET);
        assertThat(second.replayed()).isTrue();
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(stored("sealed", "sealed")).doesNotContain(SECRET);
    }

    /** Case 128: what cannot be opened is an error and never another run. */
    @Test
    void refusesWhatItCannotOpen() {
        post("sealed");
        server.bean(AtomicInteger.class).incrementAndGet();
        try {
            assertThat(post("sealed").problem()).isEqualTo("result-unreadable");
        } finally {
            server.bean(AtomicInteger.class).decrementAndGet();
        }
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 128. */
    @ParameterizedTest
    @ValueSource(strings = {"sealed", "unstored"})
    void logsNeitherBodiesNorKeys(String path, CapturedOutput output) {
        post(path);
        post(path);
        server.post("/sensitive/" + path, key, "{\"other\":\"" + SECRET + "\"}");
        server.post("/sensitive/" + path, key + "\u00e9", "{}");

        assertThat(output).doesNotContain(SECRET, key);
    }

    private String stored(String operation, String path) {
        return new String(record(operation, path).result().payload(), StandardCharsets.ISO_8859_1);
    }

    /** An application may compare what it wants: here everything but the time. */
    @Test
    void comparesByTheStrategyOfTheApplication() {
        Answer first = server.post("/sensitive/timed", key, "5 at 10:00");

        assertThat(server.post("/sensitive/timed", key, "5 at 10:01").replayed())
                .isTrue();
        assertThat(server.post("/sensitive/timed", key, "6 at 10:00").problem()).isEqualTo("key-reused");
        assertThat(server.post("/sensitive/timed?more", key, "5 at 10:00")
                        .json()
                        .get("differences"))
                .hasToString("[\"query\"]");
        assertThat(first.status()).isEqualTo(200);
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, Handlers.class})
    static class Sealed {

        @Bean
        AtomicInteger secretKey() {
            return new AtomicInteger(42);
        }

        @Bean
        IdempotencyEngine engine(AtomicInteger secretKey) {
            return IdempotencyEngine.on(InMemoryIdempotencyStore.onSystemClock())
                    .transformer(new Xor(secretKey))
                    .build();
        }

        @Bean
        IdempotentMethods idempotentMethods() {
            return TestMethods.leased();
        }

        @Bean
        FingerprintStrategy withoutTheTime() {
            return new FingerprintStrategy() {
                @Override
                public String scheme() {
                    return "untimed/1";
                }

                @Override
                public byte[] compared(String operation, String mediaType, byte[] payload) {
                    return operation.equals("timed")
                            ? new String(payload, StandardCharsets.UTF_8)
                                    .replaceAll(" at .*", "")
                                    .getBytes(StandardCharsets.UTF_8)
                            : null;
                }
            };
        }
    }

    /** Every byte turned by a secret, and the secret in front to notice another one. */
    private record Xor(AtomicInteger secret) implements ResultTransformer {

        @Override
        public String id() {
            return "xor";
        }

        @Override
        public byte[] transform(byte[] plain) {
            byte[] sealed = new byte[plain.length + 1];
            sealed[0] = secret.byteValue();
            for (int i = 0; i < plain.length; i++) {
                sealed[i + 1] = (byte) (plain[i] ^ secret.get());
            }
            return sealed;
        }

        @Override
        public byte[] restore(byte[] sealed) {
            if (sealed[0] != secret.byteValue()) {
                throw new IllegalStateException("Sealed with another secret");
            }
            byte[] plain = new byte[sealed.length - 1];
            for (int i = 0; i < plain.length; i++) {
                plain[i] = (byte) (sealed[i + 1] ^ secret.get());
            }
            return plain;
        }
    }

    @RestController
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/sensitive/unstored")
        @Idempotent(storeResult = Toggle.OFF)
        String unstored(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "{\"token\":\"" + SECRET + "\"}";
        }

        @PostMapping("/sensitive/sealed")
        @Idempotent
        String sealed(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "{\"token\":\"" + SECRET + "\"}";
        }

        @PostMapping("/sensitive/timed")
        @Idempotent
        String timed(@RequestBody String body) {
            return "done";
        }
    }
}
