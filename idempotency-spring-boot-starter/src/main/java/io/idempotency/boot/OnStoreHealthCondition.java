package io.idempotency.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Obeys the same properties as every health indicator. Spring Boot's own condition has moved in 4.0. */
final class OnStoreHealthCondition extends SpringBootCondition {

    private static final String OWN = "management.health.idempotency.enabled";
    private static final String DEFAULTS = "management.health.defaults.enabled";

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Environment environment = context.getEnvironment();
        String property = environment.containsProperty(OWN) ? OWN : DEFAULTS;
        boolean enabled = environment.getProperty(property, Boolean.class, true);
        return new ConditionOutcome(
                enabled, ConditionMessage.forCondition("store health").because(property + " is " + enabled));
    }
}
