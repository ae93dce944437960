package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** Case 146: the beans can be turned into code ahead of time. */
class AotTests {

    @Test
    void everyBeanIsGenerated() {
        AnnotationConfigServletWebApplicationContext context = new AnnotationConfigServletWebApplicationContext();
        context.setClassLoader(new WithoutSpringdoc());
        context.register(Application.class);
        TestPropertyValues.of("idempotency.store=jdbc").applyTo(context);
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext generation =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(Application.class)), files);

        new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        generation.writeGeneratedContent();

        assertThat(files.getGeneratedFiles(Kind.SOURCE).keySet())
                .anyMatch(name -> name.contains("IdempotencyAutoConfiguration__BeanDefinitions"))
                .anyMatch(name -> name.contains("IdempotencyJdbcAutoConfiguration__BeanDefinitions"))
                .anyMatch(name -> name.contains("IdempotencyWebAutoConfiguration__BeanDefinitions"))
                .anyMatch(name -> name.contains("IdempotencyPurgeAutoConfiguration__BeanDefinitions"));
        assertThat(RuntimeHintsPredicates.resource().forResource("io/idempotency/jdbc/schema-h2.sql"))
                .accepts(generation.getRuntimeHints());
        assertThat(RuntimeHintsPredicates.resource().forResource("io/idempotency/redis/claim.lua"))
                .accepts(generation.getRuntimeHints());
        assertThat(RuntimeHintsPredicates.reflection().onType(IdempotencyProperties.Operation.class))
                .accepts(generation.getRuntimeHints());
    }

    /** Springdoc is on this class path without the libraries that its own part in the generation needs. */
    private static final class WithoutSpringdoc extends ClassLoader {

        private WithoutSpringdoc() {
            super(AotTests.class.getClassLoader());
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return Collections.enumeration(Collections.list(super.getResources(name)).stream()
                    .filter(resource -> !resource.getPath().contains("springdoc"))
                    .toList());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyInMemoryAutoConfiguration.class,
        IdempotencyJdbcAutoConfiguration.class,
        IdempotencyPurgeAutoConfiguration.class,
        IdempotencyWebAutoConfiguration.class
    })
    static class Application {

        @Bean
        DataSource dataSource() {
            return TestDataSources.h2();
        }

        @Bean
        Payments payments() {
            return new Payments();
        }
    }

    @RestController
    static class Payments {

        @PostMapping("/payments")
        @Idempotent
        public String pay() {
            return "paid";
        }
    }
}
