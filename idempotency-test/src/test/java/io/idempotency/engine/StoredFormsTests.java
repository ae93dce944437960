package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.Guarantee;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** While a deployment rolls, one version reads what another has written. */
class StoredFormsTests {

    private static final Map<String, byte[]> KEPT = kept();
    private static final StoredResult VALUE = StoredResult.value("text/1", bytes("paid"));

    private static Map<String, byte[]> kept() {
        try (InputStream in = StoredFormsTests.class.getResourceAsStream("stored-forms-1.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" = "))
                    .collect(Collectors.toMap(
                            line -> line[0], line -> HexFormat.of().parseHex(line[1])));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static Stream<Arguments> forms() {
        return Stream.of(
                Arguments.of("record id of (pay, alice, k-1)", (Supplier<byte[]>)
                        () -> RecordId.of("pay", "alice", "k-1").bytes()),
                Arguments.of("value", (Supplier<byte[]>) VALUE::toBytes),
                Arguments.of("transformed value", (Supplier<byte[]>)
                        () -> VALUE.transformed("aes/1", new byte[] {1, 2, 3}).toBytes()),
                Arguments.of("not replayable", (Supplier<byte[]>)
                        () -> StoredResult.notReplayable("none", new byte[0]).toBytes()),
                Arguments.of(
                        "failure", (Supplier<byte[]>) () -> FailureFormat.write(new IllegalStateException("refused"))
                                .toBytes()),
                Arguments.of("failure without a message", (Supplier<byte[]>)
                        () -> FailureFormat.write(new IllegalStateException()).toBytes()),
                Arguments.of("fingerprint of (a, bc)", (Supplier<byte[]>) () -> bytes(
                        Fingerprint.sha256("raw/1", bytes("a"), bytes("bc")).asText())),
                Arguments.of("child key of charge", (Supplier<byte[]>) StoredFormsTests::childKey));
    }

    private static byte[] childKey() {
        Call call = new Call(
                OperationSettings.of("pay", Guarantee.AT_LEAST_ONCE).build(), "alice", "k-1", Fingerprint.NONE);
        Lease lease = new Lease(call.claimBy(new Owner(new UUID(1, 2))), 1);
        return bytes(new AttemptContext(call, lease, false, () -> false, null).childKey("charge"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forms")
    void isWrittenAsEver(String name, Supplier<byte[]> written) {
        assertThat(written.get()).isEqualTo(KEPT.get(name));
    }

    @Test
    void resultsAreReadAsEver() {
        assertThat(StoredResult.fromBytes(KEPT.get("value"))).isEqualTo(VALUE);
        assertThat(StoredResult.fromBytes(KEPT.get("transformed value")).transformer())
                .isEqualTo("aes/1");
        assertThat(StoredResult.fromBytes(KEPT.get("not replayable")).kind())
                .isEqualTo(StoredResult.Kind.NOT_REPLAYABLE);
        assertThat(FailureFormat.read(StoredResult.fromBytes(KEPT.get("failure"))))
                .hasMessage("refused")
                .returns("java.lang.IllegalStateException", failure -> failure.failureType());
        assertThat(FailureFormat.read(StoredResult.fromBytes(KEPT.get("failure without a message"))))
                .hasMessage(null);
    }

    @Test
    void resultOfALaterVersionIsNotGuessedAt() {
        byte[] later = KEPT.get("value").clone();
        later[0] = 2;

        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoredResult.fromBytes(later))
                .withMessageContaining("unknown version 2")
                .withMessageNotContaining("paid");
    }
}
