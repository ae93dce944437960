package io.idempotency.it.architecture;

import static com.tngtech.archunit.lang.conditions.ArchConditions.beFinal;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;

import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Spring Boot's own rules on auto-configuration, and those that let one jar run on Boot 3.5 and 4. */
final class AutoConfigurationRules {

    static final ArchRule autoConfigurationsArePublicAndFinal = classes()
            .that()
            .areAnnotatedWith(AutoConfiguration.class)
            .should()
            .bePublic()
            .andShould(beFinal())
            .andShould()
            .haveSimpleNameEndingWith("AutoConfiguration");

    static final ArchRule autoConfigurationsHaveNoPublicMembers =
            classes().that().areAnnotatedWith(AutoConfiguration.class).should(haveNoPublicMembersButTheConstructor());

    static final ArchRule orderIsGivenByName = classes()
            .that()
            .areAnnotatedWith(AutoConfiguration.class)
            .should(nameOnlyOwnClassesInBeforeAndAfter())
            .because("the classes of Spring Boot moved between 3.5 and 4.0: use beforeName and afterName");

    static final ArchRule beanMethodsHaveNoConditionOnClass = noMethods()
            .that()
            .areAnnotatedWith(Bean.class)
            .should()
            .beMetaAnnotatedWith(ConditionalOnClass.class)
            .orShould()
            .beAnnotatedWith(ConditionalOnClass.class)
            .because("the class is loaded before the condition is asked");

    static final ArchRule missingBeanConditionsDoNotRepeatTheReturnType = methods()
            .that()
            .areAnnotatedWith(ConditionalOnMissingBean.class)
            .should(nameAnotherTypeThanTheReturnType());

    static final ArchRule postProcessorsAreStatic =
            methods().that().areAnnotatedWith(Bean.class).should(beStaticIfTheyCreateAPostProcessor());

    static final ArchRule beanMethodsArePackagePrivate =
            methods().that().areAnnotatedWith(Bean.class).should().bePackagePrivate();

    static final ArchRule beansAreNotOfPrivateTypes =
            methods().that().areAnnotatedWith(Bean.class).should(returnNoPrivateType());

    static final ArchRule configurationPropertiesUseValue =
            classes().that().areAnnotatedWith(ConfigurationProperties.class).should(notSetPrefix());

    static final ArchRule noTypeThatMovedInBoot4 = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework.boot.autoconfigure.dao..",
                    "org.springframework.boot.autoconfigure.data..",
                    "org.springframework.boot.autoconfigure.flyway..",
                    "org.springframework.boot.autoconfigure.http..",
                    "org.springframework.boot.autoconfigure.jackson..",
                    "org.springframework.boot.autoconfigure.jdbc..",
                    "org.springframework.boot.autoconfigure.kafka..",
                    "org.springframework.boot.autoconfigure.liquibase..",
                    "org.springframework.boot.autoconfigure.orm..",
                    "org.springframework.boot.autoconfigure.security..",
                    "org.springframework.boot.autoconfigure.sql..",
                    "org.springframework.boot.autoconfigure.transaction..",
                    "org.springframework.boot.autoconfigure.web..",
                    "org.springframework.boot.actuate.autoconfigure.metrics..",
                    "org.springframework.boot.actuate.autoconfigure.observation..",
                    "org.springframework.boot.web.servlet.error..");

    private AutoConfigurationRules() {}

    private static ArchCondition<JavaClass> haveNoPublicMembersButTheConstructor() {
        return new ArchCondition<>("have no public members but the constructor") {
            @Override
            public void check(JavaClass item, ConditionEvents events) {
                Stream.concat(item.getMethods().stream(), item.getFields().stream())
                        .filter(member -> member.getModifiers().contains(JavaModifier.PUBLIC))
                        .forEach(member ->
                                events.add(SimpleConditionEvent.violated(item, member.getFullName() + " is public")));
            }
        };
    }

    private static ArchCondition<JavaClass> nameOnlyOwnClassesInBeforeAndAfter() {
        return new ArchCondition<>("name only own classes in before and after") {
            @Override
            public void check(JavaClass item, ConditionEvents events) {
                JavaAnnotation<JavaClass> annotation = item.getAnnotationOfType(AutoConfiguration.class.getName());
                Stream.of("before", "after")
                        .flatMap(attribute -> classesIn(annotation, attribute).stream())
                        .filter(other -> !other.getName().startsWith("io.idempotency."))
                        .forEach(other -> events.add(SimpleConditionEvent.violated(
                                item, item.getName() + " is ordered by the class " + other.getName())));
            }
        };
    }

    private static ArchCondition<JavaMethod> nameAnotherTypeThanTheReturnType() {
        return new ArchCondition<>("not repeat the return type in @ConditionalOnMissingBean") {
            @Override
            public void check(JavaMethod item, ConditionEvents events) {
                JavaAnnotation<JavaMethod> annotation =
                        item.getAnnotationOfType(ConditionalOnMissingBean.class.getName());
                List<JavaClass> types = classesIn(annotation, "value");
                if (types.size() == 1 && types.get(0).equals(item.getRawReturnType())) {
                    events.add(SimpleConditionEvent.violated(
                            item, item.getFullName() + " names its return type in @ConditionalOnMissingBean"));
                }
            }
        };
    }

    private static ArchCondition<JavaMethod> beStaticIfTheyCreateAPostProcessor() {
        return new ArchCondition<>("be static if they create a post-processor") {
            @Override
            public void check(JavaMethod item, ConditionEvents events) {
                JavaClass type = item.getRawReturnType();
                boolean postProcessor = type.isAssignableTo(BeanPostProcessor.class)
                        || type.isAssignableTo(BeanFactoryPostProcessor.class);
                if (postProcessor && !item.getModifiers().contains(JavaModifier.STATIC)) {
                    events.add(SimpleConditionEvent.violated(item, item.getFullName() + " is not static"));
                }
            }
        };
    }

    private static ArchCondition<JavaMethod> returnNoPrivateType() {
        return new ArchCondition<>("return no private type") {
            @Override
            public void check(JavaMethod item, ConditionEvents events) {
                if (item.getRawReturnType().getModifiers().contains(JavaModifier.PRIVATE)) {
                    events.add(SimpleConditionEvent.violated(item, item.getFullName() + " returns a private type"));
                }
            }
        };
    }

    private static ArchCondition<JavaClass> notSetPrefix() {
        return new ArchCondition<>("use value, not prefix") {
            @Override
            public void check(JavaClass item, ConditionEvents events) {
                if (item.getAnnotationOfType(ConfigurationProperties.class.getName())
                        .hasExplicitlyDeclaredProperty("prefix")) {
                    events.add(SimpleConditionEvent.violated(item, item.getName() + " sets prefix"));
                }
            }
        };
    }

    private static List<JavaClass> classesIn(JavaAnnotation<?> annotation, String attribute) {
        Optional<Object> value = annotation.get(attribute);
        return value.filter(JavaClass[].class::isInstance)
                .map(classes -> Arrays.asList((JavaClass[]) classes))
                .orElse(List.of());
    }
}
