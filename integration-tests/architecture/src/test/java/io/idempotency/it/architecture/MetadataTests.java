package io.idempotency.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the annotation processors leave in the starter: without it there is no completion and a slower start, and no error. */
class MetadataTests {

    @Test
    void everyPropertyIsDescribed() throws IOException {
        List<JsonNode> properties;
        try (var in =
                inTheStarter("META-INF/spring-configuration-metadata.json").openStream()) {
            properties = JsonMapper.shared()
                    .readTree(in)
                    .get("properties")
                    .valueStream()
                    .toList();
        }

        assertThat(properties)
                .extracting(property -> property.get("name").asString())
                .contains("idempotency.enabled", "idempotency.retention", "idempotency.jdbc.table-name")
                .allMatch(name ->
                        name.startsWith("idempotency.") || name.startsWith("management.endpoint.idempotencymodes."));
        assertThat(properties)
                .filteredOn(property -> !property.hasNonNull("description"))
                .extracting(property -> property.get("name").asString())
                .isEmpty();
    }

    @Test
    void theConditionsOfEveryAutoConfigurationAreKnownWithoutLoadingIt() throws IOException {
        Properties conditions = new Properties();
        try (var in = inTheStarter("META-INF/spring-autoconfigure-metadata.properties")
                .openStream()) {
            conditions.load(in);
        }

        assertThat(ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
                        .getCandidates())
                .filteredOn(name -> name.startsWith("io.idempotency."))
                .isNotEmpty()
                .allMatch(conditions::containsKey);
    }

    private static URL inTheStarter(String resource) throws IOException {
        return Collections.list(MetadataTests.class.getClassLoader().getResources(resource)).stream()
                .filter(url -> url.toString().contains("idempotency-spring-boot-starter"))
                .findFirst()
                .orElseThrow(() -> new FileNotFoundException(resource));
    }
}
