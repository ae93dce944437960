package io.idempotency;

import io.idempotency.spi.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * The key was first used with another payload. The first record stands untouched.
 *
 * @since 0.1.0
 */
public final class KeyReusedException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable Fingerprint stored;
    private final transient @Nullable Fingerprint given;

    public KeyReusedException(String message) {
        this(message, Fingerprint.NONE, Fingerprint.NONE);
    }

    /**
     * @param stored fingerprint of the call that used the key first
     * @param given fingerprint of this call
     */
    public KeyReusedException(String message, Fingerprint stored, Fingerprint given) {
        super(ProblemCode.KEY_REUSED, message);
        this.stored = stored;
        this.given = given;
    }

    /** Fingerprint of the call that used the key first; {@link Fingerprint#NONE} if it is not known. */
    public Fingerprint stored() {
        return stored == null ? Fingerprint.NONE : stored;
    }

    /** Fingerprint of this call; {@link Fingerprint#NONE} if it is not known. */
    public Fingerprint given() {
        return given == null ? Fingerprint.NONE : given;
    }
}
