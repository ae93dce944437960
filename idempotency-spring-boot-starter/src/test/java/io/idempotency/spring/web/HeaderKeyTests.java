package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.InvalidIdempotencyKeyException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;

/** Cases 88, 90 and 91, and the fine print of the header. */
class HeaderKeyTests {

    private static String read(String... values) {
        MockHttpServletRequest request = new MockHttpServletRequest();
        for (String value : values) {
            request.addHeader("Idempotency-Key", value);
        }
        return new HeaderKey("Idempotency-Key").read(request);
    }

    @Test
    void knowsAnAbsentKey() {
        assertThat(read()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            quoteCharacter = '`',
            value = {
                "8e03978e-40d5-43dd-bc93-6894a57f9324 ! 8e03978e-40d5-43dd-bc93-6894a57f9324",
                "\"abc\" ! abc",
                "\"a\\\"b\\\\c\" ! a\"b\\c",
                "\"a,b;c\" ! a,b;c",
                "\"abc\";a=1 ! abc",
                "\"abc\" ; a ; b=\"x;y\" ;*c-d.e_f=?1 ! abc",
                "abc;a=1 ! abc",
                "abc ; a ! abc",
                "a\\b ! a\\b",
                "a:b/c=d+e{f}<g>'h'%0a ! a:b/c=d+e{f}<g>'h'%0a"
            })
    void readsTheKey(String value, String key) {
        assertThat(read(value)).isEqualTo(key);
        assertThat(read(" \t" + value + "  ")).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\t",
                "\"\"",
                "\" \"",
                "\"abc",
                "\"",
                "abc\"",
                "\"a\\nb\"",
                "\"abc\\",
                "\"abc\\\"",
                "a b",
                "\"a b\"",
                "a\tb",
                "a,b",
                "a, b",
                "\"a\",\"b\"",
                "\"a\" \"b\"",
                "\"a\"b",
                "abc;",
                "abc;A",
                "abc;1",
                "abc;a=",
                "abc;;a",
                "\"abc\";a=\"b",
                ";a",
                "\u00e9",
                "\"\u00e9\"",
                "a\u007fb",
                "a\u0000b",
                "\u4e2d"
            })
    void refusesWhatIsNotOneKey(String value) {
        assertThatThrownBy(() -> read(value))
                .isInstanceOf(InvalidIdempotencyKeyException.class)
                .hasMessageContaining("Idempotency-Key");
    }

    @Test
    void countsTheCharactersOfTheKeyItself() {
        assertThat(read("\"" + "\\\\".repeat(255) + "\";a=1")).hasSize(255);
        assertThatThrownBy(() -> read("k".repeat(256)))
                .hasMessageContaining("255")
                .hasMessageNotContaining("kk");
        assertThatThrownBy(() -> read("\"" + "\\\\".repeat(100_000) + "\"")).hasMessageContaining("255");
    }

    @Test
    void refusesSeveralValues() {
        assertThatThrownBy(() -> read("a", "a")).isInstanceOf(InvalidIdempotencyKeyException.class);
        assertThatThrownBy(() -> read("a", "b")).isInstanceOf(InvalidIdempotencyKeyException.class);
    }
}
