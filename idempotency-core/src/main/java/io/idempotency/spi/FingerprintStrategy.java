package io.idempotency.spi;

import org.jspecify.annotations.Nullable;

/**
 * Says what of a payload is compared where a key is used again, for example everything but a time stamp. A bean of this type takes the
 * place of the stock comparison of bodies; how a request is addressed is compared in any case.
 *
 * @since 0.1.0
 */
public interface FingerprintStrategy {

    /**
     * Id of the way in which payloads are compared, kept with each record: {@code [a-z0-9./-]{1,32}}. Give another one to another way:
     * records of another id are not comparable, so that they never contradict.
     */
    String scheme();

    /**
     * The part of a payload that is compared. Called once per call, on the calling thread, before the claim. Must not throw, and must give
     * the same for the same on every node.
     *
     * @param operation name of the operation
     * @param mediaType type and subtype in lower case; empty if there is none
     * @param payload the payload; not to be changed
     * @return {@code null} for the stock comparison of this payload
     */
    byte @Nullable [] compared(String operation, String mediaType, byte[] payload);
}
