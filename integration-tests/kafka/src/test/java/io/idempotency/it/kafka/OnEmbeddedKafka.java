package io.idempotency.it.kafka;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.test.context.EmbeddedKafka;

/** The application on a real broker in this process: one of both for all tests. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(
        properties = {
            "spring.kafka.bootstrap-servers=${spring.embedded.kafka.brokers}",
            "spring.kafka.consumer.auto-offset-reset=earliest",
            "spring.kafka.consumer.properties.session.timeout.ms=6000",
            "spring.kafka.consumer.properties.heartbeat.interval.ms=1000",
            "spring.datasource.url=jdbc:h2:mem:kafka;DB_CLOSE_DELAY=-1",
            "spring.sql.init.mode=always",
            "idempotency.lease=10s"
        })
@EmbeddedKafka(partitions = 3, brokerProperties = "group.initial.rebalance.delay.ms=0")
@interface OnEmbeddedKafka {}
