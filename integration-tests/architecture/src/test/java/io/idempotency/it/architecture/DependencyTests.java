package io.idempotency.it.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows point one way: core from jdbc, test and spring; core, jdbc and spring from boot. */
@AnalyzeClasses(packages = "io.idempotency", importOptions = LibraryClasses.class)
class DependencyTests {

    private static final String[] CORE = {
        "io.idempotency", "io.idempotency.spi..", "io.idempotency.engine..", "io.idempotency.support.."
    };
    private static final String STORES = "io.idempotency.(jdbc|redis)..";
    private static final String DOORS = "io.idempotency.spring..";
    private static final String BOOT = "io.idempotency.boot..";
    private static final String KIT = "io.idempotency.test..";

    private static final String[] WEB = {
        "org.springframework.web..", "org.springframework.http..", "jakarta.servlet..", "org.springframework.security.."
    };

    @ArchTest
    static final ArchRule coreDependsOnJspecifyAndSlf4jOnly = classes()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage(CORE).or(resideInAnyPackage("java..", "org.jspecify..", "org.slf4j..")));

    @ArchTest
    static final ArchRule storesDependOnCoreOnly = noClasses()
            .that()
            .resideInAPackage(STORES)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(DOORS, BOOT, KIT);

    @ArchTest
    static final ArchRule storesDoNotDependOnEachOther =
            slices().matching(STORES).namingSlices("$1").should().notDependOnEachOther();

    @ArchTest
    static final ArchRule storesSeeNeitherTheWebNorSpringBoot = noClasses()
            .that()
            .resideInAPackage(STORES)
            .should()
            .dependOnClassesThat(resideInAnyPackage(WEB).or(resideInAPackage("org.springframework.boot..")));

    @ArchTest
    static final ArchRule doorsNeverTouchAStore = noClasses()
            .that()
            .resideInAPackage(DOORS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(STORES, BOOT, KIT);

    @ArchTest
    static final ArchRule doorsSeeNoSpringBoot = noClasses()
            .that()
            .resideInAPackage(DOORS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework.boot..");

    @ArchTest
    static final ArchRule bootDoesNotDependOnTheKit = noClasses()
            .that()
            .resideInAPackage(BOOT)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(KIT);

    @ArchTest
    static final ArchRule theKitDependsOnCoreAndTestLibrariesOnly = classes()
            .that()
            .resideInAPackage(KIT)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(CORE)
                    .or(resideInAnyPackage(
                            KIT,
                            "java..",
                            "org.jspecify..",
                            "org.slf4j..",
                            "org.junit.jupiter..",
                            "org.assertj..",
                            "org.awaitility..")));

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("(**)").should().beFreeOfCycles();
}
