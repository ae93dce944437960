package io.idempotency.it.architecture;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import java.util.regex.Pattern;

/** Everything that is published, and nothing else: no tests, no samples, not these rules. */
final class LibraryClasses implements ImportOption {

    private static final Pattern PUBLISHED = Pattern.compile(
            ".*/idempotency-(core|jdbc|redis|spring-boot-starter|test)(/target/classes/|-[^/]*\\.jar!/).*");

    @Override
    public boolean includes(Location location) {
        return location.matches(PUBLISHED);
    }
}
