package io.idempotency.spring.client;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What can be said about a client of any kind. */
abstract class ClientBuilder<B extends ClientBuilder<B>> {

    private String header = "Idempotency-Key";
    private Set<String> methods = Set.of("POST", "PATCH");
    private IdempotencyKeyGenerator keys = IdempotencyKeyGenerator.uuidV7();
    private boolean childKeys;
    private Duration deadline = Duration.ofSeconds(30);
    private @Nullable RequestId requestId;

    ClientBuilder() {}

    // Each builder names itself as B.
    @SuppressWarnings("unchecked")
    private B self() {
        return (B) this;
    }

    /** Under which name the key is sent. */
    public B header(String name) {
        this.header = name;
        return self();
    }

    final B methods(Set<String> methods) {
        this.methods = methods;
        return self();
    }

    public B keys(IdempotencyKeyGenerator keys) {
        this.keys = keys;
        return self();
    }

    /**
     * Inside of an idempotent action, derive the key from the action's: the same on every attempt of it. It also contains the
     * method, the address and the how-manieth such request of the attempt it is, so that an action may send the same one twice;
     * requests that are alike must then be sent in the same order by every attempt.
     */
    public B childKeys() {
        this.childKeys = true;
        return self();
    }

    /**
     * For how long a call is sent again, counted from its first attempt; zero: never. The last attempt begins before, and lasts
     * as long as the timeouts of the client let it.
     */
    public B deadline(Duration deadline) {
        if (deadline.isNegative()) {
            throw new IllegalArgumentException("The deadline of a client must not be negative: " + deadline);
        }
        this.deadline = deadline;
        return self();
    }

    /**
     * Sends the id of the request that is being served, as the logging context has it, with every call that has none. What is no id
     * is not sent: those have 1 to 255 visible ASCII characters.
     */
    public B requestId(String mdcKey, String header) {
        this.requestId = new RequestId(mdcKey, header);
        return self();
    }

    final CallKeys callKeys() {
        return new CallKeys(header, methods, keys, childKeys);
    }

    final RetrySchedule schedule() {
        return new RetrySchedule(deadline);
    }

    final @Nullable RequestId requestId() {
        return requestId;
    }
}
