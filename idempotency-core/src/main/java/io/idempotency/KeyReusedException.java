package io.idempotency;

/**
 * The key was first used with another payload. The first record stands untouched.
 *
 * @since 0.1.0
 */
public final class KeyReusedException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public KeyReusedException(String message) {
        super(ProblemCode.KEY_REUSED, message);
    }
}
