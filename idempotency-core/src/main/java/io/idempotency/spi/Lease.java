package io.idempotency.spi;

/**
 * The right to work on a key, as granted by a store. Later writes to the record require that it is still {@code PROCESSING} and
 * still of this owner.
 *
 * @param request the claim that was granted
 * @param token fencing token of the attempt: 1, or one more than that of the attempt that was taken over
 * @since 0.1.0
 */
public record Lease(ClaimRequest request, long token) {

    /** Identity of the record. */
    public RecordId id() {
        return request.id();
    }

    /** Identity of the attempt. */
    public Owner owner() {
        return request.owner();
    }
}
