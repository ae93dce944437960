package io.idempotency;

/**
 * The key was first used with another payload. The first record stands untouched.
 *
 * @since 0.1.0
 */
public final class KeyReusedException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final String storedFingerprint;
    private final String givenFingerprint;

    public KeyReusedException(String message) {
        this(message, "", "");
    }

    /**
     * @param storedFingerprint of the call that used the key first, as {@code scheme:digest}; empty if it is not known
     * @param givenFingerprint of this call, likewise
     */
    public KeyReusedException(String message, String storedFingerprint, String givenFingerprint) {
        super(ProblemCode.KEY_REUSED, message);
        this.storedFingerprint = storedFingerprint;
        this.givenFingerprint = givenFingerprint;
    }

    /** Fingerprint of the call that used the key first, as {@code scheme:digest}; empty if it is not known. */
    public String storedFingerprint() {
        return storedFingerprint;
    }

    /** Fingerprint of this call, as {@code scheme:digest}; empty if it is not known. */
    public String givenFingerprint() {
        return givenFingerprint;
    }
}
