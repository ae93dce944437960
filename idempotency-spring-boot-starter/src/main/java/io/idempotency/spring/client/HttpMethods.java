package io.idempotency.spring.client;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.http.HttpMethod;

final class HttpMethods {

    private HttpMethods() {}

    static Set<String> names(HttpMethod... methods) {
        return Arrays.stream(methods).map(HttpMethod::name).collect(Collectors.toUnmodifiableSet());
    }
}
