package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page of the manual names every property with its default, and no other. */
class ConfigurationPageTests {

    private static final Map<String, String> PREFIX_BY_SECTION = Map.of(
            "## Global", "idempotency.",
            "## One operation", "idempotency.operations.<name>.",
            "## web", "idempotency.",
            "## jdbc", "idempotency.",
            "## redis", "idempotency.",
            "## tiered", "idempotency.",
            "## purge", "idempotency.",
            "## client", "idempotency.");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    private final Map<String, String> defaultByName = read();
    private final Map<String, JsonNode> metadata = MetadataTests.read();

    @Test
    void namesEveryPropertyAndNoOther() {
        Set<String> known = new TreeSet<>(metadata.keySet());
        known.remove("idempotency.operations");
        known.addAll(MetadataTests.namesOfAnOperation());

        assertThat(defaultByName.keySet()).isEqualTo(known);
    }

    @Test
    void givesTheDefaults() {
        metadata.forEach((name, property) -> {
            JsonNode value = property.path("defaultValue");
            String known = value.isValueNode() ? value.asText() : "";
            assertThat(defaultByName.getOrDefault(name, "")).as(name).isEqualTo(known);
        });
    }

    private static Map<String, String> read() {
        Map<String, String> defaults = new TreeMap<>();
        String prefix = null;
        for (String line : lines()) {
            if (line.startsWith("## ")) {
                prefix = PREFIX_BY_SECTION.get(line);
            } else if (prefix != null && line.startsWith("| `")) {
                String[] cells = line.split("\\|", -1);
                String value = prefix.endsWith("<name>.") ? "" : String.join("", code(cells[2]));
                for (String name : code(cells[1])) {
                    defaults.put(prefix + name, value);
                }
            }
        }
        return defaults;
    }

    private static List<String> code(String cell) {
        return CODE.matcher(cell)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }

    private static List<String> lines() {
        try {
            return Files.readAllLines(Path.of("..", "docs", "configuration.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
