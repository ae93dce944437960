package io.idempotency.spring.web;

/** Stops the call of a handler whose response is going to be replayed. Cheap: it has no stack trace. */
final class ReplaySignal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    @SuppressWarnings("StaticAssignmentOfThrowable") // It has no stack trace that could be of another request.
    static final ReplaySignal INSTANCE = new ReplaySignal();

    private ReplaySignal() {
        super(
                "This request was answered before; the stored response is sent instead of calling its handler",
                null,
                false,
                false);
    }

    static boolean isIn(Throwable failure) {
        int depth = 0;
        for (Throwable each = failure; each != null && depth < 20; each = each.getCause(), depth++) {
            if (each == INSTANCE) {
                return true;
            }
        }
        return false;
    }
}
