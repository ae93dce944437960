package io.idempotency.it.architecture;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.idempotency", importOptions = LibraryClasses.class)
class CodeTests {

    @ArchTest
    static final ArchRule namesSayTheRole = CodeRules.namesSayTheRole;

    @ArchTest
    static final ArchRule upperAndLowerCaseNameALocale = CodeRules.upperAndLowerCaseNameALocale;

    @ArchTest
    static final ArchRule listsAreCollectedUnmodifiable = CodeRules.listsAreCollectedUnmodifiable;

    @ArchTest
    static final ArchRule onlyTheStoreKnowsTheTime = CodeRules.onlyTheStoreKnowsTheTime;

    @ArchTest
    static final ArchRule nothingIsFoundByScanning = CodeRules.nothingIsFoundByScanning;

    @ArchTest
    static final ArchRule fieldsAreNotInjected = CodeRules.fieldsAreNotInjected;
}
