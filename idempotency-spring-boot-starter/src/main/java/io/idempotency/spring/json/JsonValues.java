package io.idempotency.spring.json;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Values as JSON. Each implementation has a mapper of its own, whose settings are fixed: what the application sets on its mappers
 * neither changes what is stored nor keeps it from being read, and either implementation reads what the other has written. No class
 * is ever chosen by what is stored.
 *
 * @since 0.1.0
 */
public interface JsonValues {

    /**
     * Writes a value of the declared type.
     *
     * @throws RuntimeException if that is not possible
     */
    byte[] write(@Nullable Object value, Type type);

    /** Writes a value as what it is, for comparison only. */
    byte[] write(@Nullable Object value);

    /**
     * Reads a value of the declared type.
     *
     * @throws RuntimeException if that is not possible
     */
    @Nullable
    Object read(byte[] json, Type type);
}
