package io.idempotency.samples.orders.broker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class EmbeddedBrokerConfigurationTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(EmbeddedBrokerConfiguration.class);

    @Test
    void bringsNoBrokerWhereOneIsNamed() {
        runner.withPropertyValues("spring.kafka.bootstrap-servers=kafka.example:9092")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedBroker.class));
    }
}
