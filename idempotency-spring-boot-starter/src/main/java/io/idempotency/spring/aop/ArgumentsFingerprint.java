package io.idempotency.spring.aop;

import io.idempotency.FingerprintScheme;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spring.json.CanonicalJson;
import io.idempotency.spring.json.JsonValues;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fingerprint of a call: the canonical JSON of its arguments, or of what an expression reads from them. What the container
 * passes in beside the payload (requests, headers, acknowledgments) is not compared. A call whose arguments cannot be written has
 * none.
 */
final class ArgumentsFingerprint {

    private static final Logger log = LoggerFactory.getLogger(ArgumentsFingerprint.class);

    private static final String SCHEME = "arguments/1";
    private static final String SCHEME_OF_EXPRESSIONS = "expression/1";
    private static final List<String> FRAMEWORKS = List.of(
            "org.springframework.", "jakarta.", "javax.", "org.apache.kafka.", "com.rabbitmq.", "java.io.", "kotlin.");

    private final @Nullable JsonValues json;
    private final @Nullable ArgumentExpression expression;
    private final boolean none;
    private final int[] compared;

    ArgumentsFingerprint(IdempotentMethod method, @Nullable JsonValues json) {
        this.json = json;
        this.expression = method.fingerprint();
        this.none = json == null || method.fingerprintScheme() == FingerprintScheme.NONE;
        Method declared = method.method();
        this.compared = IntStream.range(0, declared.getParameterCount())
                .filter(index -> isPayload(declared, index))
                .toArray();
    }

    private static boolean isPayload(Method method, int index) {
        Class<?> type = method.getParameterTypes()[index];
        return !Principal.class.isAssignableFrom(type)
                && FRAMEWORKS.stream().noneMatch(type.getName()::startsWith)
                && IntStream.range(0, method.getParameterAnnotations()[index].length)
                        .mapToObj(each -> method.getParameterAnnotations()[index][each]
                                .annotationType()
                                .getSimpleName())
                        .noneMatch(name -> name.equals("Header") || name.equals("Headers"));
    }

    Fingerprint of(@Nullable Object[] arguments, Listener.@Nullable Delivery delivery) {
        JsonValues values = json;
        if (none || values == null) {
            return Fingerprint.NONE;
        }
        try {
            if (expression != null) {
                return digest(SCHEME_OF_EXPRESSIONS, values, expression.valueOf(arguments));
            }
            List<@Nullable Object> payload = new ArrayList<>();
            if (delivery != null) {
                payload.addAll(delivery.payload());
            }
            for (int index : compared) {
                payload.add(arguments[index]);
            }
            return payload.isEmpty() ? Fingerprint.NONE : digest(SCHEME, values, payload);
        } catch (RuntimeException | StackOverflowError e) {
            log.debug("The arguments of a call cannot be compared with those of another one", e);
            return Fingerprint.NONE;
        }
    }

    private static Fingerprint digest(String scheme, JsonValues values, @Nullable Object content) {
        return CanonicalJson.of(values.write(content))
                .map(canonical -> Fingerprint.sha256(scheme, canonical))
                .orElse(Fingerprint.NONE);
    }
}
