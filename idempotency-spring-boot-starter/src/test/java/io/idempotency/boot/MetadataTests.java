package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.boot.IdempotencyProperties.Operation;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;

/** What an editor knows about the properties. */
class MetadataTests {

    private final Map<String, JsonNode> properties = read();

    @Test
    void knowEveryPropertyOfTheRecords() {
        assertThat(properties.keySet())
                .isEqualTo(Stream.of(
                                names("idempotency", IdempotencyProperties.class),
                                names("idempotency.web", IdempotencyProperties.Web.class),
                                names("idempotency.jdbc", IdempotencyProperties.Jdbc.class),
                                names("idempotency.jdbc.archive", IdempotencyProperties.Jdbc.Archive.class),
                                names("idempotency.redis", IdempotencyProperties.Redis.class),
                                names("idempotency.tiered", IdempotencyProperties.Tiered.class),
                                names("idempotency.purge", IdempotencyProperties.Purge.class),
                                names("idempotency.client", IdempotencyProperties.Client.class))
                        .flatMap(Set::stream)
                        .filter(name -> !Set.of(
                                        "idempotency.web",
                                        "idempotency.jdbc",
                                        "idempotency.jdbc.archive",
                                        "idempotency.redis",
                                        "idempotency.tiered",
                                        "idempotency.purge",
                                        "idempotency.client")
                                .contains(name))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void describeEveryPropertyInASentence() {
        assertThat(properties)
                .allSatisfy((name, property) -> assertThat(
                                property.path("description").asText())
                        .as(name)
                        .matches("(?!The |A |An ).+\\."));
    }

    @Test
    void describeSwitchesAsWhether() {
        assertThat(properties).allSatisfy((name, property) -> {
            if (property.path("type").asText().equals("java.lang.Boolean")) {
                assertThat(property.path("description").asText()).as(name).startsWith("Whether ");
            }
        });
    }

    static Set<String> namesOfAnOperation() {
        return names("idempotency.operations.<name>", Operation.class);
    }

    private static Set<String> names(String prefix, Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getName)
                .map(name -> prefix + "." + DataObjectPropertyName.toDashedForm(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static Map<String, JsonNode> read() {
        try (InputStream metadata = MetadataTests.class
                .getClassLoader()
                .getResourceAsStream("META-INF/spring-configuration-metadata.json")) {
            Map<String, JsonNode> properties = new TreeMap<>();
            new ObjectMapper()
                    .readTree(metadata)
                    .path("properties")
                    .forEach(property -> properties.put(property.path("name").asText(), property));
            // What every endpoint has is made and described by Spring Boot.
            properties.keySet().removeIf(name -> name.startsWith("management.endpoint.idempotencymodes."));
            return properties;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
