package io.idempotency.samples.orders.payment;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.ExponentialBackOff;

/** What becomes of an event that cannot be worked on now. */
@Configuration(proxyBeanMethods = false)
class PaymentConfiguration {

    // Without it Spring Kafka gives an event up after ten attempts in a row: an order that nobody pays.
    @Bean
    DefaultErrorHandler errorHandler() {
        return new DefaultErrorHandler(new ExponentialBackOff());
    }
}
