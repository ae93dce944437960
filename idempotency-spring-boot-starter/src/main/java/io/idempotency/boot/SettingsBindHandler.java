package io.idempotency.boot;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.Environment;

/** Refuses by name what Spring Boot would take: a duration without a unit, which it reads as milliseconds. */
final class SettingsBindHandler extends AbstractBindHandler {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("idempotency");

    private final Environment environment;

    SettingsBindHandler(BindHandler parent, Environment environment) {
        super(parent);
        this.environment = environment;
    }

    @Override
    public Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        if (result instanceof Duration && PREFIX.isAncestorOf(name)) {
            String text = textOf(context.getConfigurationProperty());
            if (text != null && Durations.hasNoUnit(text)) {
                throw IdempotencyConfigurationException.ofProperty(
                        name.toString(), text, "has no unit", Durations.remedy(text));
            }
        }
        return super.onSuccess(name, target, context, result);
    }

    private @Nullable String textOf(@Nullable ConfigurationProperty property) {
        return property == null ? null : environment.resolvePlaceholders(String.valueOf(property.getValue()));
    }
}
