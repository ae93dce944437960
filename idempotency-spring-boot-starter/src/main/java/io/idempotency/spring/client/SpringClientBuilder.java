package io.idempotency.spring.client;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.springframework.http.HttpMethod;

/** What can be said about a client of Spring's. */
abstract class SpringClientBuilder<B extends SpringClientBuilder<B>> extends ClientBuilder<B> {

    SpringClientBuilder() {}

    /** Which methods get a key; a request that carries one already is sent again whatever its method is. */
    public B methods(HttpMethod... methods) {
        return methods(Arrays.stream(methods).map(HttpMethod::name).collect(Collectors.toUnmodifiableSet()));
    }
}
