package io.idempotency.spring.web;

import io.idempotency.spring.json.CanonicalJson;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is kept of the members of a JSON body, so that a later request can tell which of its own were not there: sums of a number for
 * each value, made of the key, the value's pointer (RFC 6901) and the value. The key itself is kept nowhere, so that nobody finds out by
 * trial what the values were. An object counts by the names of its members, an array by its length.
 */
final class JsonMembers implements CanonicalJson.Visitor {

    private static final int MOST = 256;
    private static final int LONGEST_POINTER = 255;

    private final MessageDigest digest;
    private final byte[] key;
    private final PowerSums sums = new PowerSums();
    private int count;
    private boolean nothingKept;

    /** @param key a secret between client and service; empty if there is none, so that nothing is kept */
    JsonMembers(String key) {
        this.key = key.getBytes(StandardCharsets.UTF_8);
        nothingKept = key.isEmpty();
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    @Override
    public void value(CharSequence pointer, byte[] form) {
        count++;
        nothingKept |= count > MOST || pointer.length() > LONGEST_POINTER;
        if (!nothingKept) {
            sums.add(number(pointer, form));
        }
    }

    private int number(CharSequence pointer, byte[] form) {
        update(key);
        update(pointer.toString().getBytes(StandardCharsets.UTF_8));
        return ByteBuffer.wrap(digest.digest(form)).getInt();
    }

    private void update(byte[] part) {
        digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
        digest.update(part);
    }

    /** {@link PowerSums#LENGTH} characters; none where there is no key, or a document has too many values or too long names. */
    String asText() {
        return nothingKept ? "" : sums.asText();
    }

    /** The pointers of the values that the body of another {@link #asText()} did not have; empty if those are too many. */
    static List<String> notIn(String other, String key, byte[] json) {
        JsonMembers members = new JsonMembers(key);
        CanonicalJson.of(json, members);
        if (members.nothingKept) {
            return List.of();
        }
        PowerSums.Difference difference = members.sums.to(PowerSums.parse(other));
        List<String> pointers = new ArrayList<>();
        CanonicalJson.of(json, (pointer, form) -> {
            if (difference.contains(members.number(pointer, form))) {
                pointers.add(pointer.toString());
            }
        });
        return pointers;
    }
}
