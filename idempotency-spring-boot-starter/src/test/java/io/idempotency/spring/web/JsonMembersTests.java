package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spring.json.CanonicalJson;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Case 94. */
class JsonMembersTests {

    private static final String KEY = "7c0a8d6e";

    private static byte[] bytes(String json) {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    private static String kept(String key, String json) {
        JsonMembers members = new JsonMembers(key);
        assertThat(CanonicalJson.of(bytes(json), members)).isPresent();
        return members.asText();
    }

    private static List<String> notIn(String first, String second) {
        return JsonMembers.notIn(kept(KEY, first), KEY, bytes(second));
    }

    /** The second document's pointers, with a dot for that of the whole. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":1,\"b\":2} | { \"b\" : 2.0 , \"a\" : 10e-1 } | ``",
                "{\"a\":1,\"b\":2} | {\"b\":2,\"a\":3} | /a",
                "{\"a\":1.0,\"b\":2} | {\"a\":1.00,\"b\":3} | /b",
                "{\"a\":9007199254740993} | {\"a\":9007199254740992} | /a",
                "{\"a\":0.1} | {\"a\":0.10000000000000000001} | /a",
                "{\"amount\":1,\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}]} | {\"amount\":2,\"items\":[{\"sku\":\"a\"},{\"sku\":\"c\"}]} | /amount /items/1/sku",
                "{\"a\":1} | {\"a\":1,\"b\":2} | /b .",
                "{\"a\":1,\"b\":2} | {\"a\":1} | .",
                "{\"o\":{\"a\":1,\"b\":2}} | {\"o\":{\"a\":1}} | /o",
                "{\"a\":null} | {} | .",
                "{\"a\":null} | {\"a\":false} | /a",
                "{\"a\":1} | {\"a\":\"1\"} | /a",
                "{\"a\":{\"b\":1}} | {\"a\":1} | /a",
                "{\"a\":{}} | {\"a\":[]} | /a",
                "{\"a\":[1,2]} | {\"a\":[2,1]} | /a/0 /a/1",
                "[1,2] | [1,2,3] | /2 .",
                "[1,2,3] | [1,2] | .",
                "[[1],[2]] | [[1],[3]] | /1/0",
                "1 | 2 | .",
                "{\"a/b\":1,\"m~n\":2,\"~1\":3} | {\"a/b\":4,\"m~n\":5,\"~1\":6} | /a~1b /m~0n /~01",
                "{\"\":1,\"\\u00e9\":2} | {\"\":2,\"\u00e9\":3} | / /\u00e9",
                "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1} | {\"a\":2,\"b\":2,\"c\":2,\"d\":2,\"e\":1} | /a /b /c /d",
                "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1} | {\"a\":2,\"b\":2,\"c\":2,\"d\":2,\"e\":2} | ``"
            })
    void tellWhatAnotherDocumentDidNotHave(String first, String second, String pointers) {
        assertThat(notIn(first, second).stream()
                        .map(pointer -> pointer.isEmpty() ? "." : pointer)
                        .collect(Collectors.joining(" ")))
                .isEqualTo(pointers);
    }

    @Test
    void areKeptUnderTheKeyAlone() {
        String json = "{\"pin\":1234}";

        assertThat(kept("another", json)).isNotEqualTo(kept(KEY, json));
        assertThat(kept(KEY, json)).isEqualTo(kept(KEY, "{ \"pin\": 1234.0 }")).hasSize(PowerSums.LENGTH);
        assertThat(JsonMembers.notIn(kept(KEY, json), "another", bytes(json))).hasSize(2);
    }

    @Test
    void areNotKeptWithoutAKeyOrBeyondBounds() {
        assertThat(kept("", "{\"a\":1}")).isEmpty();
        assertThat(kept(KEY, array(255))).isNotEmpty();
        assertThat(kept(KEY, array(256))).isEmpty();
        assertThat(kept(KEY, "{\"" + "n".repeat(254) + "\":1}")).isNotEmpty();
        assertThat(kept(KEY, "{\"" + "n".repeat(255) + "\":1}")).isEmpty();
        assertThat(JsonMembers.notIn(kept(KEY, "[1]"), KEY, bytes(array(256)))).isEmpty();
    }

    private static String array(int length) {
        return IntStream.range(0, length).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
    }
}
