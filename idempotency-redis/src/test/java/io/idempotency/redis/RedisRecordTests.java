package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisRecordTests {

    private static final Owner OWNER = new Owner(new UUID(0x0102030405060708L, 0x090a0b0c0d0e0f10L));

    private static ClaimRequest request(Guarantee guarantee, Fingerprint fingerprint, String operation) {
        return new ClaimRequest(
                RecordId.of("redis-operation", "", UUID.randomUUID().toString()),
                operation,
                guarantee,
                OWNER,
                fingerprint,
                Duration.ofSeconds(30),
                Duration.ofHours(24),
                null);
    }

    // Records outlive a deployment: what one version wrote, the next one and the one before have to read.
    @Test
    void layoutIsFixed() {
        byte[] value = RedisRecord.processing(request(Guarantee.AT_MOST_ONCE, new Fingerprint("raw/1", "ab"), "pay"));

        assertThat(HexFormat.of().formatHex(value))
                .isEqualTo("01504d" + "0102030405060708090a0b0c0d0e0f10"
                        + "0000000000000001" + "0000000000000000" + "0000000000000000" + "0000000000007530"
                        + "000000000526d130"
                        + "08" + "7261772f313a6162" + "0003" + "706179");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void everyFieldSurvives(Guarantee guarantee) {
        Fingerprint longest = new Fingerprint("s".repeat(32), "d".repeat(64));
        String operation = "o".repeat(1000);

        RedisRecord record = RedisRecord.parse(RedisRecord.processing(request(guarantee, longest, operation)));

        assertThat(record.done).isFalse();
        assertThat(record.guarantee).isEqualTo(guarantee);
        assertThat(record.owner).isEqualTo(OWNER);
        assertThat(record.token).isEqualTo(1);
        assertThat(record.lease).isEqualTo(30_000);
        assertThat(record.hold).isEqualTo(86_430_000);
        assertThat(record.fingerprint).isEqualTo(longest);
        assertThat(record.operation).isEqualTo(operation);
        assertThat(record.isProcessingOf(OWNER)).isTrue();
        assertThat(record.isProcessingOf(new Owner(UUID.randomUUID()))).isFalse();
    }

    @Test
    void noFingerprintStaysNone() {
        byte[] value = RedisRecord.processing(request(Guarantee.AT_LEAST_ONCE, Fingerprint.NONE, "pay"));

        assertThat(RedisRecord.parse(value).fingerprint).isEqualTo(Fingerprint.NONE);
    }

    @Test
    void noPartOfARecordIsARecord() {
        byte[] value = RedisRecord.processing(request(Guarantee.AT_LEAST_ONCE, new Fingerprint("raw/1", "ab"), "pay"));

        for (int length = 0; length < value.length; length++) {
            byte[] part = Arrays.copyOf(value, length);
            assertThatIllegalArgumentException().isThrownBy(() -> RedisRecord.parse(part));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisRecord.parse(Arrays.copyOf(value, value.length + 1)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 19, 43, 51})
    void damagedRecordIsNone(int position) {
        byte[] value = RedisRecord.processing(request(Guarantee.AT_LEAST_ONCE, new Fingerprint("raw/1", "ab"), "pay"));
        value[position] = (byte) 0xff;

        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisRecord.parse(value))
                .withMessageNotContaining("pay");
    }

    @Test
    void resultWithoutDoneAndDoneWithoutResultAreNone() {
        ClaimRequest request = request(Guarantee.AT_LEAST_ONCE, new Fingerprint("raw/1", "ab"), "pay");
        byte[] numbers = ByteBuffer.allocate(40)
                .putLong(1)
                .putLong(1)
                .putLong(1)
                .putLong(1)
                .putLong(2)
                .array();

        for (boolean done : new boolean[] {true, false}) {
            byte[] head = done ? RedisRecord.doneHead(request) : RedisRecord.head(request);
            byte[] tail = RedisRecord.tail(request, done ? new byte[0] : new byte[] {1});
            byte[] value = ByteBuffer.allocate(head.length + numbers.length + tail.length)
                    .put(head)
                    .put(numbers)
                    .put(tail)
                    .array();
            assertThatIllegalArgumentException().isThrownBy(() -> RedisRecord.parse(value));
        }
    }

    @Test
    void durationsBeyondEveryRetentionAreCut() {
        assertThat(RedisRecord.millis(Duration.ofDays(36_500))).isEqualTo(36_500L * 86_400_000);
        assertThat(RedisRecord.millis(Duration.ofDays(100_000_000))).isEqualTo(36_500L * 86_400_000);
    }
}
