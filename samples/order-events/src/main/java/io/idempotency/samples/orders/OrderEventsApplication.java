package io.idempotency.samples.orders;

import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Starts both halves. */
@SpringBootApplication
@EnableScheduling
public class OrderEventsApplication {

    public static void main(String[] args) {
        SpringApplication.run(OrderEventsApplication.class, args);
    }

    @Bean
    NewTopic orders() {
        return TopicBuilder.name(OrderPlaced.TOPIC).build();
    }
}
