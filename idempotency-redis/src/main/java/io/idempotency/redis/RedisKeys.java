package io.idempotency.redis;

import io.idempotency.spi.RecordId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Names of keys: a prefix, and the hex digits of a record id. */
final class RedisKeys {

    /** What keys begin with unless something else is configured. */
    static final String DEFAULT_PREFIX = "idempotency:";

    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9:._/-]{1,100}");
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final byte[] prefix;

    RedisKeys(String prefix) {
        this.prefix = prefix.getBytes(StandardCharsets.US_ASCII);
    }

    /** The prefix, if it can be one. */
    static String checked(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "The key prefix consists of 1 to 100 of the characters A-Z a-z 0-9 : . _ / - and not of: "
                            + prefix);
        }
        return prefix;
    }

    byte[] of(RecordId id) {
        byte[] bytes = id.bytes();
        byte[] key = Arrays.copyOf(prefix, prefix.length + 2 * bytes.length);
        int position = prefix.length;
        for (byte b : bytes) {
            key[position++] = HEX[b >> 4 & 0xf];
            key[position++] = HEX[b & 0xf];
        }
        return key;
    }

    static byte[] ascii(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }
}
