package io.idempotency.spring.web;

import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.web.servlet.server.ConfigurableServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The web servers on which the rules are tested. */
enum Container {
    TOMCAT,
    JETTY;

    /** To be imported: with it an application runs on Jetty. */
    @Configuration(proxyBeanMethods = false)
    static class Jetty {

        @Bean
        ConfigurableServletWebServerFactory jetty() {
            return new JettyServletWebServerFactory();
        }
    }
}
