package io.idempotency.boot;

import java.lang.reflect.Method;
import java.util.Locale;
import java.util.regex.Pattern;

/** Names of operations: {@code [a-z0-9-]+}, so that one property or environment variable addresses one operation. */
final class OperationNames {

    private static final int LONGEST = 190;
    private static final Pattern VALID = Pattern.compile("[a-z0-9-]{1," + LONGEST + "}");
    private static final Pattern WORD_BOUNDARY =
            Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_$]+");

    private OperationNames() {}

    static boolean isValid(String name) {
        return VALID.matcher(name).matches();
    }

    /** Simple class name and method name in kebab case; not always valid, because Java names may have letters of any script. */
    static String ofMethod(Method method, Class<?> userClass) {
        return kebab(userClass.getSimpleName()) + "-" + kebab(method.getName());
    }

    private static String kebab(String javaName) {
        return WORD_BOUNDARY.matcher(javaName).replaceAll("-").toLowerCase(Locale.ROOT);
    }

    /** Whether a property named {@code key} addresses the operation: environment variables cannot write hyphens. */
    static boolean addresses(String key, String operation) {
        return withoutHyphens(key).equals(withoutHyphens(operation));
    }

    static String withoutHyphens(String name) {
        return name.replace("-", "").toLowerCase(Locale.ROOT);
    }
}
