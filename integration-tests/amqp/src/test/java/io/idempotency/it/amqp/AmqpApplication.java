package io.idempotency.it.amqp;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import io.idempotency.spring.client.ChildKeyMessagePostProcessor;
import java.util.ArrayList;
import java.util.List;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.Declarable;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.FanoutExchange;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.config.ContainerCustomizer;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

@SpringBootApplication
@Import({Ledger.class, Work.class})
class AmqpApplication {

    private static final List<String> QUEUES = List.of(
            "inbox",
            "manual",
            "manual-gated",
            "flaky",
            "gated",
            "killed",
            "reused",
            "unknown",
            "ids",
            "headers",
            "optional",
            "relay",
            "relayed",
            "slow",
            "uncommitted");

    @Bean
    Declarables queues() {
        List<Declarable> declarables = new ArrayList<>();
        for (String name : QUEUES) {
            declarables.add(new Queue(name + "_DLQ"));
            declarables.add(new Queue(name, true, false, false, AmqpBroker.rejectingTo(name + "_DLQ")));
        }
        FanoutExchange both = new FanoutExchange("both");
        declarables.add(both);
        for (String name : List.of("one", "two")) {
            Queue queue = new Queue(name);
            declarables.add(queue);
            declarables.add(BindingBuilder.bind(queue).to(both));
        }
        return new Declarables(declarables);
    }

    @Bean
    SmartInitializingSingleton messages(RabbitTemplate rabbit) {
        return () -> rabbit.addBeforePublishPostProcessors(
                new ChildKeyMessagePostProcessor().withRequestId("requestId", "X-Request-Id"));
    }

    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> counted(Deliveries deliveries) {
        return container -> container.setAfterReceivePostProcessors(deliveries);
    }
}
