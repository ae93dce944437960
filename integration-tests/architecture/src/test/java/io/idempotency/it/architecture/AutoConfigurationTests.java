package io.idempotency.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.StreamSupport;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;

@AnalyzeClasses(packages = "io.idempotency", importOptions = LibraryClasses.class)
class AutoConfigurationTests {

    @ArchTest
    static final ArchRule autoConfigurationsArePublicAndFinal =
            AutoConfigurationRules.autoConfigurationsArePublicAndFinal;

    @ArchTest
    static final ArchRule autoConfigurationsHaveNoPublicMembers =
            AutoConfigurationRules.autoConfigurationsHaveNoPublicMembers;

    @ArchTest
    static final ArchRule orderIsGivenByName = AutoConfigurationRules.orderIsGivenByName;

    @ArchTest
    static final ArchRule beanMethodsHaveNoConditionOnClass = AutoConfigurationRules.beanMethodsHaveNoConditionOnClass;

    @ArchTest
    static final ArchRule missingBeanConditionsDoNotRepeatTheReturnType =
            AutoConfigurationRules.missingBeanConditionsDoNotRepeatTheReturnType;

    @ArchTest
    static final ArchRule postProcessorsAreStatic = AutoConfigurationRules.postProcessorsAreStatic;

    @ArchTest
    static final ArchRule beanMethodsArePackagePrivate = AutoConfigurationRules.beanMethodsArePackagePrivate;

    @ArchTest
    static final ArchRule beansAreNotOfPrivateTypes = AutoConfigurationRules.beansAreNotOfPrivateTypes;

    @ArchTest
    static final ArchRule configurationPropertiesUseValue = AutoConfigurationRules.configurationPropertiesUseValue;

    @ArchTest
    static final ArchRule noTypeThatMovedInBoot4 = AutoConfigurationRules.noTypeThatMovedInBoot4;

    @ArchTest
    static void theImportsFileListsEveryAutoConfiguration(JavaClasses classes) {
        var annotated = classes.stream()
                .filter(type -> type.isAnnotatedWith(AutoConfiguration.class))
                .map(type -> type.getName())
                .toList();

        var listed = StreamSupport.stream(
                        ImportCandidates.load(AutoConfiguration.class, AutoConfigurationTests.class.getClassLoader())
                                .spliterator(),
                        false)
                .filter(name -> name.startsWith("io.idempotency."))
                .toList();

        assertThat(listed).containsExactlyInAnyOrderElementsOf(annotated);
    }
}
