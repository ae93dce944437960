package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.RecordId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.server.PathContainer;

/** Case 127, and the path as part of a scope. */
class HttpScopeTests {

    /** Case 127. */
    @Test
    void isInjective() {
        String[] fragments = {
            "",
            "a",
            "b",
            ":",
            "|",
            "/",
            "#",
            " ",
            "\u0000",
            "%",
            "%3A",
            "1:",
            " 1:a",
            "user",
            "anonymous",
            "\u00e9",
            "\u4e2d",
            "\ud800"
        };
        Random random = new Random(127);
        Map<RecordId, List<String>> seen = new HashMap<>();
        String text = "";
        for (int i = 0; i < 10_000; i++) {
            // Few texts and many cuts: tuples that differ in nothing but where one part ends.
            if (i % 50 == 0) {
                text = random.ints(6, 0, fragments.length)
                        .mapToObj(each -> fragments[each])
                        .collect(Collectors.joining());
            }
            int[] cuts = random.ints(4, 0, text.length() + 1).sorted().toArray();
            String caller = random.nextInt(4) == 0 ? null : text.substring(0, cuts[0]);
            List<String> tuple = Arrays.asList(
                    caller,
                    text.substring(cuts[0], cuts[1]),
                    text.substring(cuts[1], cuts[2]),
                    text.substring(cuts[2], cuts[3]),
                    text.substring(cuts[3]));
            RecordId id = RecordId.of(
                    "operation", HttpScope.of(caller, tuple.get(1), tuple.get(2), tuple.get(3)), tuple.get(4));

            assertThat(seen.getOrDefault(id, tuple)).isEqualTo(tuple);
            seen.put(id, tuple);
        }
        assertThat(seen).hasSizeGreaterThan(5000);
    }

    @Test
    void tellsAnAnonymousCallerFromOneOfThatName() {
        assertThat(HttpScope.of(null, "", "POST", "/a")).isNotEqualTo(HttpScope.of("anonymous", "", "POST", "/a"));
        assertThat(HttpScope.of("alice", "t", "POST", "/a")).isEqualTo("user 5:alice 1:t 4:POST 2:/a");
    }

    @ParameterizedTest
    @CsvSource({
        "/, /",
        "/orders, /orders",
        "/orders/, /orders",
        "/orders/1/pay, /orders/1/pay",
        "/%6Frders/%31/pay, /orders/1/pay",
        "/orders/a%2Fb, /orders/a%2Fb",
        "/orders/a/b, /orders/a/b",
        "/orders/%C3%A9, /orders/%C3%A9",
        "/orders/a b, /orders/a%20b",
        "/orders;a=1/x;b=2, /orders/x",
        "/a//b, /a//b"
    })
    void spellsAPathOneWay(String path, String canonical) {
        assertThat(HttpScope.canonicalPath(PathContainer.parsePath(path))).isEqualTo(canonical);
    }
}
