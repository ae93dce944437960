package io.idempotency.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rule that is on but sees nothing is worse than none. */
class RulesBiteTests {

    private static final JavaClasses OFFENCES = new ClassFileImporter()
            .importPackagesOf(Offences.class)
            .that(JavaClass.Predicates.belongToAnyOf(Offences.class));

    static Stream<Named<ArchRule>> rules() {
        return Stream.of(
                        CodeRules.namesSayTheRole,
                        CodeRules.upperAndLowerCaseNameALocale,
                        CodeRules.listsAreCollectedUnmodifiable,
                        CodeRules.nothingIsFoundByScanning,
                        CodeRules.fieldsAreNotInjected,
                        AutoConfigurationRules.autoConfigurationsArePublicAndFinal,
                        AutoConfigurationRules.autoConfigurationsHaveNoPublicMembers,
                        AutoConfigurationRules.orderIsGivenByName,
                        AutoConfigurationRules.beanMethodsHaveNoConditionOnClass,
                        AutoConfigurationRules.missingBeanConditionsDoNotRepeatTheReturnType,
                        AutoConfigurationRules.postProcessorsAreStatic,
                        AutoConfigurationRules.beanMethodsArePackagePrivate,
                        AutoConfigurationRules.beansAreNotOfPrivateTypes,
                        AutoConfigurationRules.configurationPropertiesUseValue)
                .map(rule -> Named.of(rule.getDescription(), rule));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void seesTheOffence(ArchRule rule) {
        assertThat(rule.evaluate(OFFENCES).hasViolation()).isTrue();
    }
}
