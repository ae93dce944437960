package io.idempotency.redis;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/**
 * The string that stands under a key. Its layout is described in {@code record.lua}, which reads and writes it too.
 *
 * <p>After the numbers: fingerprint length (1), fingerprint, operation length (2), operation, and for a record that is done the
 * stored form of its result.
 */
final class RedisRecord {

    private static final byte FORMAT = 1;
    private static final byte PROCESSING = 'P';
    private static final byte DONE = 'D';
    private static final int HEAD = 19;
    private static final int NUMBERS = 40;

    // Far beyond every retention that is allowed, and exact in the numbers of Lua.
    private static final long LONGEST_MILLIS = Duration.ofDays(36_500).toMillis();

    final boolean done;
    final Guarantee guarantee;
    final Owner owner;
    final long token;
    final long created;
    final long completed;
    final long lease;
    final long hold;
    final Fingerprint fingerprint;
    final String operation;
    private final byte[] result;

    private RedisRecord(ByteBuffer buffer) {
        byte format = buffer.get();
        if (format != FORMAT) {
            throw new IllegalArgumentException("record of unknown format " + format);
        }
        byte state = buffer.get();
        this.done = state == DONE;
        if (!done && state != PROCESSING) {
            throw new IllegalArgumentException("record of unknown state " + state);
        }
        this.guarantee = guarantee(buffer.get());
        this.owner = new Owner(new UUID(buffer.getLong(), buffer.getLong()));
        this.token = buffer.getLong();
        this.created = buffer.getLong();
        this.completed = buffer.getLong();
        this.lease = buffer.getLong();
        this.hold = buffer.getLong();
        this.fingerprint = Fingerprint.parse(text(buffer, Byte.toUnsignedInt(buffer.get())));
        this.operation = text(buffer, Short.toUnsignedInt(buffer.getShort()));
        this.result = new byte[buffer.remaining()];
        buffer.get(result);
        if (token < 1 || lease < 1 || hold < 1 || done == (result.length == 0)) {
            throw new IllegalArgumentException("record contradicts itself");
        }
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is none; the message contains no stored data
     */
    static RedisRecord parse(byte[] value) {
        try {
            return new RedisRecord(ByteBuffer.wrap(value));
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("record is truncated", e);
        }
    }

    /** The whole record of a first claim. Redis alone knows when it was made, so that stays open. */
    static byte[] processing(ClaimRequest request) {
        byte[] tail = tail(request, new byte[0]);
        ByteBuffer buffer = ByteBuffer.allocate(HEAD + NUMBERS + tail.length);
        putHead(buffer, request, PROCESSING);
        buffer.putLong(1).putLong(0).putLong(0).putLong(leaseMillis(request)).putLong(holdMillis(request));
        return buffer.put(tail).array();
    }

    /** What stands before the numbers of a claim. */
    static byte[] head(ClaimRequest request) {
        return putHead(ByteBuffer.allocate(HEAD), request, PROCESSING).array();
    }

    /** What stands before the numbers of a record that goes straight to DONE. */
    static byte[] doneHead(ClaimRequest request) {
        return putHead(ByteBuffer.allocate(HEAD), request, DONE).array();
    }

    private static ByteBuffer putHead(ByteBuffer buffer, ClaimRequest request, byte state) {
        return buffer.put(FORMAT).put(state).put(code(request.guarantee())).put(bytes(request.owner()));
    }

    /** What stands behind the numbers. */
    static byte[] tail(ClaimRequest request, byte[] result) {
        byte[] fingerprint = request.fingerprint().asText().getBytes(StandardCharsets.UTF_8);
        byte[] operation = request.operation().getBytes(StandardCharsets.UTF_8);
        if (fingerprint.length > 0xff || operation.length > 0xffff) {
            throw new IllegalArgumentException("The operation or the scheme of the fingerprint is too long");
        }
        return ByteBuffer.allocate(3 + fingerprint.length + operation.length + result.length)
                .put((byte) fingerprint.length)
                .put(fingerprint)
                .putShort((short) operation.length)
                .put(operation)
                .put(result)
                .array();
    }

    static byte[] bytes(Owner owner) {
        return ByteBuffer.allocate(16)
                .putLong(owner.value().getMostSignificantBits())
                .putLong(owner.value().getLeastSignificantBits())
                .array();
    }

    static long leaseMillis(ClaimRequest request) {
        return millis(request.lease());
    }

    /** How long the key lives from a claim or a renewal on, so that a dead owner does not look like an absent key. */
    static long holdMillis(ClaimRequest request) {
        return leaseMillis(request) + millis(request.retention());
    }

    static long millis(Duration duration) {
        return Math.min(duration.toMillis(), LONGEST_MILLIS);
    }

    boolean isProcessingOf(Owner other) {
        return !done && owner.equals(other);
    }

    /** What is left of the retention of a record that is done, at a moment of the server's clock. */
    long retentionLeft(long now) {
        return Math.max(0, Math.min(hold, completed + hold - now));
    }

    /**
     * This record as it is seen from outside.
     *
     * @param timeToLive what is left of the key's life in ms
     */
    IdempotencyRecord seen(RecordId id, long timeToLive, long createdMillis) {
        StoredResult readable = null;
        String unreadable = null;
        if (done) {
            try {
                readable = StoredResult.fromBytes(result);
            } catch (IllegalArgumentException e) {
                unreadable = e.getMessage();
            }
        } else if (timeToLive < 0) {
            unreadable = "record of a claim has no expiry: something else has changed its key";
        }
        return new IdempotencyRecord(
                id,
                operation,
                guarantee,
                done,
                fingerprint,
                owner,
                token,
                Instant.ofEpochMilli(createdMillis),
                done ? Instant.ofEpochMilli(completed) : null,
                done || timeToLive < 0 ? null : Duration.ofMillis(timeToLive - (hold - lease)),
                Duration.ofMillis(timeToLive),
                readable,
                unreadable);
    }

    /** What is seen of something that is no record. */
    static IdempotencyRecord unreadable(RecordId id, String reason, long timeToLive) {
        return new IdempotencyRecord(
                id,
                "",
                Guarantee.AUTO,
                false,
                Fingerprint.NONE,
                null,
                0,
                Instant.EPOCH,
                null,
                null,
                Duration.ofMillis(timeToLive),
                null,
                reason);
    }

    private static String text(ByteBuffer buffer, int length) {
        if (length > buffer.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte code(Guarantee guarantee) {
        switch (guarantee) {
            case EXACTLY_ONCE:
                return 'E';
            case AT_LEAST_ONCE:
                return 'L';
            case AT_MOST_ONCE:
                return 'M';
            default:
                throw new IllegalArgumentException("No claim is made under " + guarantee);
        }
    }

    private static Guarantee guarantee(byte code) {
        switch (code) {
            case 'E':
                return Guarantee.EXACTLY_ONCE;
            case 'L':
                return Guarantee.AT_LEAST_ONCE;
            case 'M':
                return Guarantee.AT_MOST_ONCE;
            default:
                throw new IllegalArgumentException("record of unknown guarantee " + code);
        }
    }
}
