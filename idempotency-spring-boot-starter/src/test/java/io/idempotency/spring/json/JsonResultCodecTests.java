package io.idempotency.spring.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.net.URI;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;

/** Both Jacksons, each as writer and as reader of what the other has written. */
class JsonResultCodecTests {

    private static final JsonResultCodec JACKSON_2 = new JsonResultCodec(new Jackson2Values(List.of()));
    private static final JsonResultCodec JACKSON_3 = new JsonResultCodec(new Jackson3Values(List.of()));

    record OrderDto(
            String number, BigDecimal amount, @Nullable String note) {}

    record Times(
            Instant at, LocalDate day, OffsetDateTime sent, ZonedDateTime zoned, Duration took, DayOfWeek weekday) {}

    record PageOf<T>(List<T> content, long total) {}

    static final class Bean {
        private String name = "";
        private @Nullable Integer count;

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }

        public @Nullable Integer getCount() {
            return count;
        }

        public void setCount(@Nullable Integer count) {
            this.count = count;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Bean that && name.equals(that.name) && Objects.equals(count, that.count);
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, count);
        }
    }

    enum Kind {
        CARD {
            @Override
            public String toString() {
                return "a card";
            }
        },
        CASH
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({@JsonSubTypes.Type(Paid.class), @JsonSubTypes.Type(Refused.class)})
    sealed interface Answer permits Paid, Refused {}

    @JsonTypeName("paid")
    record Paid(String id) implements Answer {}

    @JsonTypeName("refused")
    record Refused(String reason) implements Answer {}

    interface Opaque {
        String name();
    }

    /** Only their return types matter. */
    interface Methods<T> {
        List<OrderDto> list();

        Map<Long, BigDecimal> map();

        Map<Kind, List<UUID>> enumMap();

        Set<UUID> set();

        Times times();

        Long number();

        BigDecimal decimal();

        char letter();

        byte[] bytes();

        long[] longs();

        Kind kind();

        PageOf<PageOf<OrderDto>> page();

        Optional<OrderDto> optional();

        OptionalLong optionalLong();

        Optional<String> optionalText();

        int primitive();

        boolean flag();

        Integer boxed();

        Bean bean();

        Answer answer();

        List<Answer> answers();

        OrderDto[] array();

        List<T> resolved();

        URI uri();

        Object object();

        List<?> wildcard();

        @SuppressWarnings("rawtypes")
        List raw();

        Map<String, Object> anything();

        Map<OrderDto, String> keyed();

        Stream<String> stream();

        java.util.Iterator<String> iterator();

        java.io.InputStream input();

        Resource resource();

        Opaque opaque();

        Number someNumber();

        List<Opaque> opaques();

        java.util.concurrent.CompletableFuture<String> future();

        ResponseEntity<OrderDto> entity();

        ResponseEntity<Void> empty();

        ResponseEntity<Object> unknownEntity();
    }

    interface OfOrders extends Methods<OrderDto> {}

    private static Type type(String method) {
        Method found = Arrays.stream(Methods.class.getMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        return GenericTypeResolver.resolveType(found.getGenericReturnType(), OfOrders.class);
    }

    static Stream<Arguments> values() {
        OrderDto order = new OrderDto("o-1", new BigDecimal("1.10"), null);
        Bean bean = new Bean();
        bean.setName("b");
        return Stream.of(
                Arguments.of("list", List.of(order, new OrderDto("o-2", new BigDecimal("1E+3"), "n"))),
                Arguments.of("list", List.of()),
                Arguments.of("map", Map.of(1L, new BigDecimal("1.10"))),
                Arguments.of("map", Map.of()),
                Arguments.of("enumMap", Map.of(Kind.CARD, List.of(new UUID(1, 2)))),
                Arguments.of("set", Set.of(new UUID(1, 2))),
                Arguments.of(
                        "times",
                        new Times(
                                Instant.parse("2026-01-02T03:04:05.123456789Z"),
                                LocalDate.of(2026, 1, 2),
                                OffsetDateTime.parse("2026-01-02T03:04:05+05:30"),
                                ZonedDateTime.parse("2026-01-02T03:04:05+01:00[Europe/Paris]"),
                                Duration.ofMillis(1500),
                                DayOfWeek.FRIDAY)),
                Arguments.of("number", 1L),
                Arguments.of("decimal", new BigDecimal("1.10")),
                Arguments.of("letter", 'ß'),
                Arguments.of("bytes", new byte[] {0, -1, 7}),
                Arguments.of("longs", new long[] {1, Long.MAX_VALUE}),
                Arguments.of("kind", Kind.CARD),
                Arguments.of("page", new PageOf<>(List.of(new PageOf<>(List.of(order), 1)), 1)),
                Arguments.of("optional", Optional.of(order)),
                Arguments.of("optional", Optional.empty()),
                Arguments.of("optionalLong", OptionalLong.of(7)),
                Arguments.of("optionalLong", OptionalLong.empty()),
                Arguments.of("optionalText", Optional.of("")),
                Arguments.of("primitive", 0),
                Arguments.of("flag", false),
                Arguments.of("boxed", null),
                Arguments.of("list", null),
                Arguments.of("optional", null),
                Arguments.of("bean", bean),
                Arguments.of("answer", new Refused("broke")),
                Arguments.of("answers", List.of(new Paid("p-1"), new Refused("broke"))),
                Arguments.of("array", new OrderDto[] {order}),
                Arguments.of("resolved", List.of(order)),
                Arguments.of("uri", URI.create("https://example.org/a?b=c")));
    }

    // Cases 77 and 78.
    @ParameterizedTest
    @MethodSource("values")
    void comesBackAsWhatItWas(String method, @Nullable Object value) {
        Type type = type(method);
        for (JsonResultCodec writer : List.of(JACKSON_2, JACKSON_3)) {
            for (JsonResultCodec reader : List.of(JACKSON_2, JACKSON_3)) {
                assertThat(writer.supports(type)).isTrue();
                Object back = reader.decode(writer.encode(value, type), type);

                assertThat(Objects.deepEquals(back, value)).as("%s", back).isTrue();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("values")
    void bothWriteTheSame(String method, @Nullable Object value) {
        Type type = type(method);

        assertThat(new String(JACKSON_2.encode(value, type), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo(new String(JACKSON_3.encode(value, type), java.nio.charset.StandardCharsets.UTF_8));
    }

    static Stream<String> refused() {
        return Stream.of(
                "object",
                "wildcard",
                "raw",
                "anything",
                "keyed",
                "stream",
                "iterator",
                "input",
                "resource",
                "opaque",
                "someNumber",
                "opaques",
                "future");
    }

    @ParameterizedTest
    @MethodSource("refused")
    void refusesWhatCouldComeBackAsSomethingElse(String method) {
        assertThat(JACKSON_3.supports(type(method))).isFalse();
        assertThat(ResultTypes.objectionTo(type(method))).isNotBlank();
    }

    // Case 82: what cannot be written fails as an exception that the engine can handle.
    @Test
    void aValueThatCannotBeWrittenFailsWithoutAnError() {
        Cyclic cyclic = new Cyclic();
        cyclic.self = cyclic;

        for (JsonResultCodec codec : List.of(JACKSON_2, JACKSON_3)) {
            assertThatThrownBy(() -> codec.encode(cyclic, Cyclic.class)).isInstanceOf(RuntimeException.class);
            assertThatThrownBy(() -> codec.encode(new Throwing(), Throwing.class))
                    .isInstanceOf(RuntimeException.class);
        }
    }

    // A node of another version may have written more than this one knows.
    @Test
    void unknownPropertiesAreIgnoredAndMissingOnesAreEmpty() {
        byte[] stored = "{\"number\":\"o\",\"new\":{\"a\":1}}".getBytes(java.nio.charset.StandardCharsets.UTF_8);

        for (JsonResultCodec codec : List.of(JACKSON_2, JACKSON_3)) {
            assertThat(codec.decode(stored, OrderDto.class)).isEqualTo(new OrderDto("o", null, null));
        }
    }

    // Case 80.
    @Test
    void anEntityComesBackWithItsStatusHeadersAndBody() {
        ResponseEntityResultCodec codec =
                new ResponseEntityResultCodec(List.of(new VoidResultCodec(), new StringResultCodec(), JACKSON_3));
        ResponseEntity<OrderDto> created = ResponseEntity.created(URI.create("/orders/1"))
                .eTag("\"v1\"")
                .header("Set-Cookie", "session=secret")
                .header("X-Twice", "a", "b")
                .body(new OrderDto("o-1", new BigDecimal("1.10"), "ü"));

        ResponseEntity<?> back =
                (ResponseEntity<?>) codec.decode(codec.encode(created, type("entity")), type("entity"));

        assertThat(back.getStatusCode()).isEqualTo(HttpStatus.CREATED);
        assertThat(back.getHeaders().getFirst("Location")).isEqualTo("/orders/1");
        assertThat(back.getHeaders().getETag()).isEqualTo("\"v1\"");
        assertThat(back.getHeaders().get("X-Twice")).containsExactly("a", "b");
        assertThat(back.getHeaders().getFirst("Set-Cookie")).isNull();
        assertThat(back.getBody()).isEqualTo(created.getBody());

        ResponseEntity<?> nothing = (ResponseEntity<?>)
                codec.decode(codec.encode(ResponseEntity.noContent().build(), type("empty")), type("empty"));
        assertThat(nothing.getStatusCode()).isEqualTo(HttpStatus.NO_CONTENT);
        assertThat(nothing.hasBody()).isFalse();
        assertThat(codec.supports(type("unknownEntity"))).isFalse();
        assertThat(codec.supports(type("list"))).isFalse();
    }

    static final class Cyclic {
        @Nullable
        Cyclic self;

        public @Nullable Cyclic getSelf() {
            return self;
        }
    }

    static final class Throwing {
        public String getName() {
            throw new IllegalStateException("no name");
        }
    }
}
