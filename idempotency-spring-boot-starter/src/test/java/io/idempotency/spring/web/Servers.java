package io.idempotency.spring.web;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.util.function.Supplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.function.SingletonSupplier;

/** Servers that several test classes share. They live as long as the tests. */
final class Servers {

    private static final Supplier<TestServer> LEASED = SingletonSupplier.of(() -> TestServer.start(Leased.class));
    private static final Supplier<TestServer> PLAIN = SingletonSupplier.of(() -> TestServer.start(Plain.class));
    private static final Supplier<TestServer> LEASED_ON_JETTY =
            SingletonSupplier.of(() -> TestServer.start(LeasedOnJetty.class));
    private static final Supplier<TestServer> PLAIN_ON_JETTY =
            SingletonSupplier.of(() -> TestServer.start(PlainOnJetty.class));

    private Servers() {}

    /** AT_LEAST_ONCE where a handler says nothing else, in memory. */
    static TestServer leased() {
        return leased(Container.TOMCAT);
    }

    static TestServer leased(Container container) {
        return container == Container.JETTY ? LEASED_ON_JETTY.get() : LEASED.get();
    }

    /** The same handlers without the library. */
    static TestServer plain(Container container) {
        return container == Container.JETTY ? PLAIN_ON_JETTY.get() : PLAIN.get();
    }

    @Configuration(proxyBeanMethods = false)
    @Import({CaseHandlers.class, ResponseHandlers.class, BodyHandlers.class, AsyncHandlers.class})
    static class Handlers {}

    @Configuration(proxyBeanMethods = false)
    @Import({WebConfiguration.class, Handlers.class})
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    static class InMemory {

        @Bean
        HookedStore hookedStore() {
            return new HookedStore(InMemoryIdempotencyStore.onSystemClock());
        }

        @Bean
        IdempotencyEngine engine(HookedStore store) {
            return IdempotencyEngine.on(store.store()).build();
        }

        @Bean
        IdempotentMethods idempotentMethods() {
            return TestMethods.leased();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, InMemory.class, Handlers.class})
    static class Leased {}

    @Configuration(proxyBeanMethods = false)
    @Import({Leased.class, Container.Jetty.class})
    static class LeasedOnJetty {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Container.Jetty.class})
    static class PlainOnJetty {}
}
