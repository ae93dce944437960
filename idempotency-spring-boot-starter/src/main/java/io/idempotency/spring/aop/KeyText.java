package io.idempotency.spring.aop;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The text form of business keys: equal for equal values, different for different ones, the same on every node and in every version.
 *
 * <p>Strings, characters, booleans, enums, UUIDs and {@code java.time} are written as they are, numbers by their value. Arrays,
 * collections, maps, optionals and records of these are written by their content, each part with its length in front. Everything else
 * is refused: an object's own {@code toString} may change with every run.
 *
 * @since 0.1.0
 */
public final class KeyText {

    private static final int DEEPEST = 16;
    private static final int LARGEST_PLAIN_EXPONENT = 64;

    private KeyText() {}

    /**
     * @return null where there is no value: null, an empty optional, or a composite of nothing
     * @throws IllegalArgumentException if the value has no stable text form; the message names its type and not its content
     */
    public static @Nullable String of(@Nullable Object value) {
        Object content = unwrapped(value);
        if (content == null) {
            return null;
        }
        if (isList(content)) {
            List<?> parts = elements(content);
            if (parts.isEmpty()) {
                return null;
            }
            checkParts(parts);
        }
        return text(content, 0);
    }

    // A list is how a key is composed, and a key with a hole would be shared by all calls that lack the part.
    private static void checkParts(List<?> parts) {
        for (Object part : parts) {
            Object content = unwrapped(part);
            if (content == null || (content instanceof CharSequence text && isBlank(text))) {
                throw new IllegalArgumentException("a part of it is null or blank");
            }
        }
    }

    private static boolean isBlank(CharSequence text) {
        return text.toString().isBlank();
    }

    private static boolean isList(Object value) {
        return value instanceof Collection || value.getClass().isArray();
    }

    private static List<?> elements(Object listOrArray) {
        if (listOrArray instanceof Collection<?> collection) {
            return new ArrayList<>(collection);
        }
        List<@Nullable Object> elements = new ArrayList<>();
        for (int i = 0; i < Array.getLength(listOrArray); i++) {
            elements.add(Array.get(listOrArray, i));
        }
        return elements;
    }

    private static @Nullable Object unwrapped(@Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return optional.isPresent() ? unwrapped(optional.get()) : null;
        }
        if (value instanceof OptionalInt optional) {
            return optional.isPresent() ? optional.getAsInt() : null;
        }
        if (value instanceof OptionalLong optional) {
            return optional.isPresent() ? optional.getAsLong() : null;
        }
        if (value instanceof OptionalDouble optional) {
            return optional.isPresent() ? optional.getAsDouble() : null;
        }
        return value;
    }

    private static String text(Object value, int depth) {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("it is nested more than " + DEEPEST + " deep");
        }
        if (value instanceof String
                || value instanceof Character
                || value instanceof Boolean
                || value instanceof UUID) {
            return value.toString();
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof Number number) {
            return ofNumber(number);
        }
        if (value.getClass().getName().startsWith("java.time.")) {
            return value.toString();
        }
        if (value instanceof Set<?> set) {
            return composite(
                    set.stream().map(each -> part(each, depth)).sorted().toList());
        }
        if (isList(value)) {
            return composite(
                    elements(value).stream().map(each -> part(each, depth)).toList());
        }
        if (value instanceof Map<?, ?> map) {
            return composite(map.entrySet().stream()
                    .map(entry -> part(entry.getKey(), depth) + part(entry.getValue(), depth))
                    .sorted()
                    .toList());
        }
        if (value instanceof Record record) {
            return composite(Arrays.stream(record.getClass().getRecordComponents())
                    .map(component -> part(read(record, component), depth))
                    .toList());
        }
        throw new IllegalArgumentException(value.getClass().getName() + " has no stable text form");
    }

    private static String composite(List<String> parts) {
        return "[" + String.join("", parts) + "]";
    }

    private static String part(@Nullable Object value, int depth) {
        Object content = unwrapped(value);
        if (content == null) {
            return "-";
        }
        String text = text(content, depth + 1);
        return text.length() + ":" + text;
    }

    private static @Nullable Object read(Record record, RecordComponent component) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(record);
        } catch (InvocationTargetException | IllegalAccessException | RuntimeException e) {
            throw new IllegalArgumentException(
                    component.getDeclaringRecord().getName() + "." + component.getName() + " cannot be read", e);
        }
    }

    private static String ofNumber(Number number) {
        if (number instanceof BigDecimal decimal) {
            return ofDecimal(decimal);
        }
        if (number instanceof Byte
                || number instanceof Short
                || number instanceof Integer
                || number instanceof Long
                || number instanceof BigInteger) {
            return ofDecimal(new BigDecimal(number.toString()));
        }
        if ((number instanceof Double || number instanceof Float) && Double.isFinite(number.doubleValue())) {
            return ofDecimal(new BigDecimal(number.toString()));
        }
        throw new IllegalArgumentException(number.getClass().getName()
                + (number instanceof Double || number instanceof Float
                        ? " that is not finite has no value to be a key"
                        : " has no stable text form"));
    }

    private static String ofDecimal(BigDecimal decimal) {
        BigDecimal stripped = decimal.stripTrailingZeros();
        return Math.abs((long) stripped.scale()) <= LARGEST_PLAIN_EXPONENT
                ? stripped.toPlainString()
                : stripped.unscaledValue() + "E" + -(long) stripped.scale();
    }
}
