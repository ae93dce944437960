package io.idempotency.spi;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Digest of a payload, comparable only with digests of the same scheme.
 *
 * @param scheme id of the way the digest was made: {@code [a-z0-9./-]{1,32}}; empty for {@link #NONE}
 * @param digest text of the digest, 64 characters of ASCII at most; case matters
 * @since 0.1.0
 */
public record Fingerprint(String scheme, String digest) {

    /** No fingerprint: never contradicts another one. */
    public static final Fingerprint NONE = new Fingerprint("", "");

    public Fingerprint {
        if (scheme.length() > 32 || digest.length() > 64 || scheme.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                    "Scheme (32 characters, no colon) or digest (64 characters) out of bounds");
        }
    }

    /** SHA-256 over the parts, each with its length in front, so that no two lists of parts look the same. */
    public static Fingerprint sha256(String scheme, byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) {
                digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
                digest.update(part);
            }
            return new Fingerprint(scheme, HexFormat.of().formatHex(digest.digest()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    /** Whether both are of one scheme and of different payloads. */
    public boolean contradicts(Fingerprint other) {
        return scheme.equals(other.scheme) && !digest.equals(other.digest);
    }

    /** {@code scheme:digest}, the stored form; empty for {@link #NONE}. */
    public String asText() {
        return scheme.isEmpty() ? "" : scheme + ":" + digest;
    }

    /** Reads {@link #asText()} back. */
    public static Fingerprint parse(String text) {
        int colon = text.indexOf(':');
        return colon < 0 ? NONE : new Fingerprint(text.substring(0, colon), text.substring(colon + 1));
    }
}
