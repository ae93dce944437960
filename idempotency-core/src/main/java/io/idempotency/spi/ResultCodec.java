package io.idempotency.spi;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Writes results of declared types and reads them back. No class is ever chosen by what is stored. Called by many threads at once.
 *
 * @since 0.1.0
 */
public interface ResultCodec {

    /** Kept with every result that this codec writes: at most 64 ASCII characters. */
    String id();

    /** Whether it can write and read values of this declared type. */
    boolean supports(Type type);

    /**
     * Called before the result is stored, on the thread on which the action has ended. If it throws, the bare fact is stored, so that
     * duplicates get a {@link io.idempotency.ResultNotReplayableException}: the effect has happened.
     */
    byte[] encode(@Nullable Object value, Type type);

    /** Called on a replay. What it throws becomes a {@link io.idempotency.ResultUnreadableException}. */
    @Nullable
    Object decode(byte[] payload, Type type);
}
