package io.idempotency.it.architecture;

import static com.tngtech.archunit.core.domain.JavaConstructor.CONSTRUCTOR_NAME;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.temporal.TemporalAccessor;
import java.util.Date;
import java.util.stream.Collectors;

/** Rules for every published class. */
final class CodeRules {

    /** A qualifier is called after the type that it qualifies. */
    static final ArchRule namesSayTheRole = noClasses()
            .that()
            .areNotAnnotations()
            .should()
            .haveNameMatching(".*[a-z0-9](Manager|Helper|Impl|Utils?)")
            .because("a name says the role, not the pattern");

    static final ArchRule upperAndLowerCaseNameALocale = noClasses()
            .should()
            .accessTargetWhere(isCallOf(String.class, "toUpperCase").and(withoutArguments()))
            .orShould()
            .accessTargetWhere(isCallOf(String.class, "toLowerCase").and(withoutArguments()))
            .because("the default locale of a machine decides otherwise, and in Turkish i is not I");

    static final ArchRule listsAreCollectedUnmodifiable = noClasses()
            .should()
            .accessTargetWhere(isCallOf(Collectors.class, "toList"))
            .because("Stream.toList() is shorter and yields an unmodifiable list");

    static final ArchRule onlyTheStoreKnowsTheTime = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.idempotency",
                    "io.idempotency.spi..",
                    "io.idempotency.engine..",
                    "io.idempotency.jdbc..",
                    "io.idempotency.redis..")
            .should()
            .accessTargetWhere(isCallOf(System.class, "currentTimeMillis"))
            .orShould()
            .accessTargetWhere(isCallOf(TemporalAccessor.class, "now"))
            .orShould()
            .accessTargetWhere(isCallOf(Date.class, CONSTRUCTOR_NAME).and(withoutArguments()))
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Clock.class)
            .because("only the clock of the store decides what is expired");

    static final ArchRule nothingIsFoundByScanning = noClasses()
            .should()
            .beAnnotatedWith("org.springframework.stereotype.Component")
            .orShould()
            .beAnnotatedWith("org.springframework.stereotype.Service")
            .orShould()
            .beAnnotatedWith("org.springframework.stereotype.Repository")
            .orShould()
            .beAnnotatedWith("org.springframework.stereotype.Controller")
            .because("every bean is declared by an auto-configuration");

    static final ArchRule fieldsAreNotInjected = noFields()
            .should()
            .beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
            .orShould()
            .beAnnotatedWith("org.springframework.beans.factory.annotation.Value")
            .because("dependencies come through the constructor");

    private CodeRules() {}

    /** Sees calls and method references. */
    private static DescribedPredicate<JavaAccess<?>> isCallOf(Class<?> owner, String name) {
        return DescribedPredicate.describe(
                "is a call of " + owner.getSimpleName() + "." + name,
                access -> access.getTarget().getOwner().isAssignableTo(owner)
                        && access.getName().equals(name));
    }

    private static DescribedPredicate<JavaAccess<?>> withoutArguments() {
        return DescribedPredicate.describe(
                "without arguments",
                access -> access.getTarget() instanceof CodeUnitAccessTarget target
                        && target.getRawParameterTypes().isEmpty());
    }
}
