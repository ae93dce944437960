package io.idempotency.spring.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class KeyTextTests {

    private record Line(String shop, BigDecimal price, Optional<String> note) {}

    private enum Kind {
        CARD {
            @Override
            public String toString() {
                return "a card";
            }
        }
    }

    @Test
    void scalarsAreWrittenAsTheyAre() {
        assertThat(KeyText.of("Ab ")).isEqualTo("Ab ");
        assertThat(KeyText.of('x')).isEqualTo("x");
        assertThat(KeyText.of(true)).isEqualTo("true");
        assertThat(KeyText.of(Kind.CARD)).isEqualTo("CARD");
        assertThat(KeyText.of(DayOfWeek.MONDAY)).isEqualTo("MONDAY");
        assertThat(KeyText.of(new UUID(1, 2))).isEqualTo("00000000-0000-0001-0000-000000000002");
        assertThat(KeyText.of(Instant.EPOCH)).isEqualTo("1970-01-01T00:00:00Z");
        assertThat(KeyText.of(LocalDate.of(2026, 1, 2))).isEqualTo("2026-01-02");
    }

    @Test
    void numbersAreWrittenByTheirValue() {
        assertThat(KeyText.of(new BigDecimal("1.0")))
                .isEqualTo(KeyText.of(new BigDecimal("1.00")))
                .isEqualTo(KeyText.of(1))
                .isEqualTo(KeyText.of(1L))
                .isEqualTo(KeyText.of(1.0))
                .isEqualTo(KeyText.of(BigInteger.ONE))
                .isEqualTo("1");
        assertThat(KeyText.of(new BigDecimal("1E+3"))).isEqualTo("1000");
        assertThat(KeyText.of(new BigDecimal("1E+2000000000"))).isEqualTo("1E2000000000");
        assertThat(KeyText.of(new BigDecimal("10E+1999999999"))).isEqualTo("1E2000000000");
        assertThat(KeyText.of(0.1)).isEqualTo("0.1");
    }

    // Case 127.
    @Test
    void partsThatMeetElsewhereAreOtherKeys() {
        assertThat(Stream.of(
                                List.of("a", "b:c"),
                                List.of("a:b", "c"),
                                List.of("ab", "c"),
                                List.of("a", "bc"),
                                List.of("abc"),
                                List.of(List.of("a"), List.of("bc")),
                                List.of(List.of("a", "b"), "c"))
                        .map(KeyText::of))
                .doesNotHaveDuplicates();
    }

    @Test
    void compositesAreWrittenByTheirContent() {
        assertThat(KeyText.of(new String[] {"a", "bc"}))
                .isEqualTo(KeyText.of(List.of("a", "bc")))
                .isEqualTo("[1:a2:bc]");
        assertThat(KeyText.of(new int[] {1, 2})).isEqualTo("[1:11:2]");
        assertThat(KeyText.of(new Line("s", new BigDecimal("1.50"), Optional.empty())))
                .isEqualTo(KeyText.of(new Line("s", new BigDecimal("1.5"), Optional.empty())))
                .isNotEqualTo(KeyText.of(new Line("s", new BigDecimal("1.5"), Optional.of("n"))));
    }

    @Test
    void theOrderOfSetsAndMapsDoesNotCount() {
        assertThat(KeyText.of(new LinkedHashSet<>(List.of("b", "a"))))
                .isEqualTo(KeyText.of(new LinkedHashSet<>(List.of("a", "b"))));
        Map<String, Integer> one = new LinkedHashMap<>(Map.of("x", 1));
        one.put("y", 2);
        Map<String, Integer> other = new LinkedHashMap<>(Map.of("y", 2));
        other.put("x", 1);
        assertThat(KeyText.of(one)).isEqualTo(KeyText.of(other)).isNotEqualTo(KeyText.of(Map.of("x", 2, "y", 1)));
    }

    // Case 66.
    @Test
    void nothingIsNoKey() {
        assertThat(KeyText.of(null)).isNull();
        assertThat(KeyText.of(Optional.empty())).isNull();
        assertThat(KeyText.of(OptionalInt.empty())).isNull();
        assertThat(KeyText.of(List.of())).isNull();
        assertThat(KeyText.of(Optional.of(OptionalInt.of(7)))).isEqualTo("7");
    }

    // Case 66: otherwise all calls that lack the part would share one record.
    @Test
    void aPartOfACompositeKeyIsNeverMissing() {
        assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(Arrays.asList("shop", null)));
        assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(new Object[] {"shop", " "}));
        assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(List.of("shop", Optional.empty())));
    }

    static Stream<Object> unstable() {
        Map<String, Object> cyclic = new HashMap<>();
        cyclic.put("self", cyclic);
        return Stream.of(
                new Object(),
                new Date(0),
                new AtomicLong(),
                Double.NaN,
                Float.POSITIVE_INFINITY,
                Thread.currentThread(),
                String.class,
                new StringBuilder("x"),
                List.of(new Object()),
                Set.of(new Date(0)),
                cyclic);
    }

    @ParameterizedTest
    @MethodSource("unstable")
    void whatHasNoStableFormIsRefusedByItsType(Object value) {
        assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(value)).withMessageNotContaining("@");
    }
}
