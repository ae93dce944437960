package io.idempotency.spring.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalJsonTests {

    private static byte[] canonical(String json) {
        return CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8)).orElse(null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":1,\"b\":2} | { \"b\" : 2 , \"a\" : 1 }",
                "1 | 1.0",
                "1 | 1e0",
                "100 | 1E+2",
                "0.001 | 1e-3",
                "0 | -0.000e7",
                "-12.50 | -1.25e1",
                "12345678901234567890.5 | 1.23456789012345678905e19",
                "\"A\\u00e9\\/\" | \"\\u0041\u00e9/\"",
                "[] | [ ]",
                "{} | { }",
                "[null,true,false] | [ null , true , false ]",
                "\"\\ud83d\\ude00\" | \"\ud83d\ude00\""
            })
    void isEqualForEqualValues(String one, String other) {
        assertThat(canonical(one)).isNotNull().isEqualTo(canonical(other));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1 | 2",
                "1 | -1",
                "1 | \"1\"",
                "0 | \"0\"",
                "1 | \"1e1\"",
                "1 | 10",
                "0.1 | 1",
                "9007199254740993 | 9007199254740992",
                "0.1 | 0.10000000000000000000001",
                "[1,2] | [2,1]",
                "[[1],2] | [[1,2]]",
                "[] | {}",
                "[] | [null]",
                "{\"a\":{\"b\":1}} | {\"a\":{},\"b\":1}",
                "{\"a\":null} | {}",
                "\"\" | null",
                "true | \"true\"",
                "\"a\" | \"A\"",
                "\"\u00e9\" | \"e\u0301\"",
                "[\"a\",\"b\"] | [\"ab\"]",
                "[[],[]] | [[[]]]",
                "{\"a\":\"0123456789012345678901234567890123456789\"} | {\"a\":\"0123456789012345678901234567890123456780\"}"
            })
    void isDifferentForDifferentValues(String one, String other) {
        assertThat(canonical(one)).isNotNull();
        assertThat(canonical(other)).isNotNull().isNotEqualTo(canonical(one));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "}",
                "[1,]",
                "[,1]",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "01",
                "-",
                "1.",
                ".5",
                "+1",
                "1e",
                "0x1",
                "NaN",
                "Infinity",
                "tru",
                "nul",
                "truex",
                "\"a",
                "\"\n\"",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\u00g0\"",
                "1 2",
                "{} {}",
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"\\u0061\":2}",
                "/* */1",
                "1e9999999999999999",
                "\ufeff1"
            })
    void isAbsentWhereTheInputIsNotOneComparableValue(String json) {
        assertThat(canonical(json)).isNull();
    }

    @Test
    void isAbsentWhereTheBytesAreNotUtf8() {
        assertThat(CanonicalJson.of(new byte[] {'"', (byte) 0xe9, '"'})).isEmpty();
    }

    @Test
    void endsInTimeWhateverIsSent() {
        int size = 1024 * 1024;
        org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            assertThat(canonical("9".repeat(size))).isNotNull();
            assertThat(canonical("[".repeat(size))).isNull();
            assertThat(canonical("{\"a\":".repeat(size / 5))).isNull();
            assertThat(canonical("[".repeat(250) + "9".repeat(size) + "]".repeat(250)))
                    .isNotNull();
            assertThat(canonical("{\"a\":".repeat(250) + "9".repeat(size) + "}".repeat(250)))
                    .isNotNull();
            assertThat(canonical("\"" + "\\u0041".repeat(size / 6) + "\"")).isNotNull();
        });
    }
}
