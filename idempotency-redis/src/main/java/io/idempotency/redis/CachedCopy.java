package io.idempotency.redis;

import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.StoredResult;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** The string that stands under a key of the cache. Its beginning is described in {@code cache-put.lua}. */
final class CachedCopy {

    /** Keeps copies away. */
    static final byte[] BAR = {1, 'B'};

    private static final byte FORMAT = 1;
    private static final byte DONE = 'D';

    private CachedCopy() {}

    /** What follows the time at which the record expires: owner (16), fingerprint length (1), fingerprint, stored form of the result. */
    static byte[] rest(ClaimResult.Done done) {
        byte[] fingerprint = done.fingerprint().asText().getBytes(StandardCharsets.UTF_8);
        byte[] result = done.result().toBytes();
        if (fingerprint.length > 0xff) {
            throw new IllegalArgumentException("The scheme of the fingerprint is too long");
        }
        return ByteBuffer.allocate(17 + fingerprint.length + result.length)
                .put(RedisRecord.bytes(done.owner()))
                .put((byte) fingerprint.length)
                .put(fingerprint)
                .put(result)
                .array();
    }

    /** The result in it; empty for everything that is not a sound copy of a record that has not expired. */
    static Optional<ClaimResult.Done> parse(byte[] value, long now) {
        ByteBuffer buffer = ByteBuffer.wrap(value);
        try {
            if (buffer.get() != FORMAT || buffer.get() != DONE) {
                return Optional.empty();
            }
            long left = buffer.getLong() - now;
            Owner owner = new Owner(new UUID(buffer.getLong(), buffer.getLong()));
            byte[] fingerprint = new byte[Byte.toUnsignedInt(buffer.get())];
            buffer.get(fingerprint);
            byte[] result = new byte[buffer.remaining()];
            buffer.get(result);
            return left <= 0
                    ? Optional.empty()
                    : Optional.of(new ClaimResult.Done(
                            Fingerprint.parse(new String(fingerprint, StandardCharsets.UTF_8)),
                            owner,
                            StoredResult.fromBytes(result),
                            Duration.ofMillis(left)));
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
