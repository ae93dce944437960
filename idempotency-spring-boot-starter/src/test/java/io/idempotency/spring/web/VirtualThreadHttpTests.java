package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.web.embedded.EmbeddedWebServerFactoryCustomizerAutoConfiguration;
import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.web.servlet.server.ConfigurableServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Both servers, with a virtual thread for every request. */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadHttpTests {

    @ParameterizedTest
    @ValueSource(classes = {OnTomcat.class, OnJetty.class})
    void runOneOfManyConcurrentRequests(Class<?> configuration) {
        try (TestServer server = TestServer.start(configuration, "spring.threads.virtual.enabled=true")) {
            for (String path : List.of("/virtual/pay", "/virtual/later")) {
                String key = TestServer.newKey();
                List<CompletableFuture<Answer>> all = server.postManyLater(40, path, key);

                assertThat(all)
                        .allSatisfy(answer -> assertThat(answer.join().status()).isIn(200, 409));
                Answer retry = server.post(path, key, "{}");
                assertThat(retry.replayed()).isTrue();
                assertThat(retry.text()).startsWith("VirtualThread");
                assertThat(server.effects().of(key)).isEqualTo(1);
            }
        }
    }

    @RestController
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/virtual/pay")
        @Idempotent
        String pay(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return Thread.currentThread().toString();
        }

        @PostMapping("/virtual/later")
        @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
        Callable<String> later(@RequestHeader("Idempotency-Key") String key) {
            return () -> pay(key);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({ExactlyOnceConfiguration.class, Handlers.class})
    @ImportAutoConfiguration({
        EmbeddedWebServerFactoryCustomizerAutoConfiguration.class,
        TaskExecutionAutoConfiguration.class
    })
    static class OnTomcat {

        @Bean
        DataSource dataSource() {
            return ExactlyOnceConfiguration.h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OnTomcat.class)
    static class OnJetty {

        @Bean
        ConfigurableServletWebServerFactory jetty() {
            return new JettyServletWebServerFactory();
        }
    }
}
