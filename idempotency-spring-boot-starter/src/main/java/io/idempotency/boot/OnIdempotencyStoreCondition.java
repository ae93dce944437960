package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches the value of {@code idempotency.store}. A value that cannot be bound matches nothing; the properties report it. */
final class OnIdempotencyStoreCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Map<String, Object> attributes =
                metadata.getAnnotationAttributes(ConditionalOnIdempotencyStore.class.getName());
        Store wanted = (Store)
                Objects.requireNonNull(Objects.requireNonNull(attributes).get("value"));
        ConditionMessage.Builder message = ConditionMessage.forCondition(
                ConditionalOnIdempotencyStore.class, wanted.name().toLowerCase(Locale.ROOT));
        try {
            Store store = Binder.get(context.getEnvironment())
                    .bind("idempotency.store", Store.class)
                    .orElse(Store.AUTO);
            boolean match = store == wanted
                    || store == Store.AUTO
                            && StoreModules.in(context.getClassLoader()).isOnly(wanted);
            return new ConditionOutcome(match, message.because("idempotency.store is " + store));
        } catch (BindException e) {
            return ConditionOutcome.noMatch(message.because("idempotency.store cannot be read"));
        }
    }
}
