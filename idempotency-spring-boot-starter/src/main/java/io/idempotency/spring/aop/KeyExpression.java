package io.idempotency.spring.aop;

import io.idempotency.InvalidIdempotencyKeyException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;

/**
 * A business key as an expression over the arguments of a method.
 *
 * @since 0.1.0
 */
public final class KeyExpression {

    private static final int LONGEST = 4096;

    private final ArgumentExpression expression;
    private final String place;

    private KeyExpression(ArgumentExpression expression, String place) {
        this.expression = expression;
        this.place = place;
    }

    /**
     * @throws IllegalArgumentException if the expression can never have a value; the message completes the sentence "the
     *     expression …"
     */
    public static KeyExpression parse(String text, Method method, Class<?> targetClass) {
        return new KeyExpression(
                ArgumentExpression.parse(text, method, targetClass), targetClass.getName() + "." + method.getName());
    }

    /**
     * The key of a call. No message of a refusal contains what the arguments are.
     *
     * @return null if there is none: null or blank
     * @throws InvalidIdempotencyKeyException if there is a value that cannot be a key
     */
    public @Nullable String keyOf(@Nullable Object[] arguments) {
        String key;
        try {
            key = KeyText.of(expression.valueOf(arguments));
        } catch (IllegalArgumentException e) {
            throw new InvalidIdempotencyKeyException(
                    "The key " + expression + " of " + place + " cannot be used: " + e.getMessage());
        } catch (EvaluationException e) {
            throw new IllegalStateException("The key " + expression + " of " + place + " cannot be evaluated", e);
        }
        if (key == null || key.isBlank()) {
            return null;
        }
        if (key.length() > LONGEST) {
            throw new InvalidIdempotencyKeyException(
                    "The key " + expression + " of " + place + " is longer than " + LONGEST + " characters");
        }
        return key;
    }

    /** Like {@link #keyOf}, for operations that require a key. */
    public String require(@Nullable Object[] arguments) {
        String key = keyOf(arguments);
        if (key == null) {
            throw new InvalidIdempotencyKeyException("The key " + expression + " of " + place + " is null or blank");
        }
        return key;
    }

    @Override
    public String toString() {
        return expression.toString();
    }
}
