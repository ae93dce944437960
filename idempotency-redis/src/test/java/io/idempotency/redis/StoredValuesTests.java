package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** While a deployment rolls, one version reads what another has written. */
class StoredValuesTests {

    private static final Map<String, byte[]> KEPT = kept();
    private static final Owner OWNER = new Owner(new UUID(1, 2));
    private static final Fingerprint FINGERPRINT = Fingerprint.sha256("raw/1", bytes("a"), bytes("bc"));
    private static final StoredResult RESULT = StoredResult.value("text/1", bytes("paid"));

    private static Map<String, byte[]> kept() {
        try (InputStream in = StoredValuesTests.class.getResourceAsStream("values-1.txt")) {
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

    @Test
    void claimIsWrittenAndReadAsEver() {
        ClaimRequest request = new ClaimRequest(
                RecordId.of("pay", "alice", "k-1"),
                "pay",
                Guarantee.AT_MOST_ONCE,
                OWNER,
                FINGERPRINT,
                Duration.ofSeconds(30),
                Duration.ofHours(24),
                null);

        assertThat(RedisRecord.processing(request)).isEqualTo(KEPT.get("processing"));
        RedisRecord record = RedisRecord.parse(KEPT.get("processing"));
        assertThat(record.isProcessingOf(OWNER)).isTrue();
        assertThat(record.guarantee).isEqualTo(Guarantee.AT_MOST_ONCE);
        assertThat(record.fingerprint).isEqualTo(FINGERPRINT);
    }

    @Test
    void resultIsReadAsEver() {
        RedisRecord record = RedisRecord.parse(KEPT.get("done"));

        assertThat(record.done).isTrue();
        assertThat(record.owner).isEqualTo(OWNER);
        assertThat(record.token).isEqualTo(2);
        assertThat(record.fingerprint).isEqualTo(FINGERPRINT);
        assertThat(record.operation).isEqualTo("pay");
        assertThat(RESULT.toBytes())
                .isEqualTo(Arrays.copyOfRange(
                        KEPT.get("done"), KEPT.get("done").length - RESULT.toBytes().length, KEPT.get("done").length));
    }

    @Test
    void copyIsWrittenAndReadAsEver() {
        ClaimResult.Done done = new ClaimResult.Done(FINGERPRINT, OWNER, RESULT, Duration.ofMillis(1_000));
        byte[] rest = CachedCopy.rest(done);
        long expiry = 4_000_000_000_000L;

        assertThat(ByteBuffer.allocate(10 + rest.length)
                        .put((byte) 1)
                        .put((byte) 'D')
                        .putLong(expiry)
                        .put(rest)
                        .array())
                .isEqualTo(KEPT.get("copy"));
        assertThat(CachedCopy.parse(KEPT.get("copy"), expiry - 1_000)).contains(done);
    }

    @Test
    void whatALaterFormatWroteIsNotGuessedAt() {
        byte[] record = KEPT.get("done").clone();
        record[0] = 2;
        byte[] copy = KEPT.get("copy").clone();
        copy[0] = 2;

        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisRecord.parse(record))
                .withMessageContaining("unknown format 2");
        assertThat(CachedCopy.parse(copy, 0)).isEmpty();
    }
}
