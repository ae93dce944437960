package io.idempotency.spring.messaging;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;

/** What Spring's messaging passes to a listener method, as far as its parameters ask for it. */
final class ListenerParameters {

    private final Method method;

    ListenerParameters(Method method) {
        this.method = method;
    }

    /** Whether a parameter shows all headers, or the named one. */
    boolean showHeaders(String keyHeader) {
        for (int i = 0; i < method.getParameterCount(); i++) {
            Header header = annotation(i, Header.class);
            if (Message.class.isAssignableFrom(type(i))
                    || MessageHeaders.class.isAssignableFrom(type(i))
                    || annotation(i, Headers.class) != null
                    || (header != null && keyHeader.equals(nameOf(header)))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a parameter takes more than one message. */
    boolean takeBatches() {
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (Collection.class.isAssignableFrom(type(i)) && annotation(i, Header.class) == null) {
                return true;
            }
        }
        return false;
    }

    int indexOf(Class<?> type) {
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (type.isAssignableFrom(type(i))) {
                return i;
            }
        }
        return -1;
    }

    @Nullable
    Object header(@Nullable Object[] arguments, String name) {
        for (int i = 0; i < arguments.length; i++) {
            Object argument = arguments[i];
            Object found = null;
            if (argument instanceof Message<?> message) {
                found = message.getHeaders().get(name);
            } else if (argument instanceof Map<?, ?> map
                    && (argument instanceof MessageHeaders || annotation(i, Headers.class) != null)) {
                found = map.get(name);
            } else {
                Header header = annotation(i, Header.class);
                if (header != null && name.equals(nameOf(header))) {
                    found = argument;
                }
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    List<@Nullable Object> payloads(@Nullable Object[] arguments) {
        List<@Nullable Object> payloads = new ArrayList<>();
        for (Object argument : arguments) {
            if (argument instanceof Message<?> message) {
                payloads.add(message.getPayload());
            }
        }
        return payloads;
    }

    private Class<?> type(int index) {
        return method.getParameterTypes()[index];
    }

    private static String nameOf(Header header) {
        return header.name().isEmpty() ? header.value() : header.name();
    }

    private <A extends Annotation> @Nullable A annotation(int index, Class<A> type) {
        for (Annotation each : method.getParameterAnnotations()[index]) {
            A found = AnnotationUtils.getAnnotation(each, type);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
