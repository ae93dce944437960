package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.spring.aop.ArgumentExpression;
import io.idempotency.spring.aop.KeyExpression;
import java.lang.reflect.Method;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What an annotation reads from the arguments of its method. */
record DeclaredExpressions(
        Method method,
        @Nullable KeyExpression key,
        @Nullable ArgumentExpression fingerprint) {

    static DeclaredExpressions of(Idempotent annotation, Method method, Class<?> userClass) {
        String place = userClass.getName() + "." + method.getName();
        return new DeclaredExpressions(
                method,
                parse("key", annotation.key(), place, text -> KeyExpression.parse(text, method, userClass)),
                parse(
                        "fingerprint",
                        annotation.fingerprint(),
                        place,
                        text -> ArgumentExpression.parse(text, method, userClass)));
    }

    private static <E> @Nullable E parse(String attribute, String text, String place, Function<String, E> parser) {
        if (text.isEmpty()) {
            return null;
        }
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new IdempotencyConfigurationException(
                    attribute + " = \"" + text + "\" of @Idempotent on " + place + ": the expression " + e.getMessage(),
                    "Write a path that begins with a parameter, for example #order.id or {#order.shop, #order.number}."
                            + " Parameters have names if the class was compiled with -parameters; #p0 is the first one.",
                    e);
        }
    }
}
