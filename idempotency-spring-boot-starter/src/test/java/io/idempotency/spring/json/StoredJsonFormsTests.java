package io.idempotency.spring.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.ResultCodec;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.ResponseEntity;

/** While a deployment rolls, one version reads the results that another has stored, maybe with another Jackson. */
class StoredJsonFormsTests {

    private static final Map<String, byte[]> KEPT = kept();

    private static Map<String, byte[]> kept() {
        try (InputStream in = StoredJsonFormsTests.class.getResourceAsStream("results-1.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" = ", 2))
                    .collect(Collectors.toMap(line -> line[0], line -> bytes(line[0], line[1])));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** JSON is kept as what it is, for the reader's sake. */
    private static byte[] bytes(String name, String text) {
        return name.startsWith("entity") ? HexFormat.of().parseHex(text) : text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(String name, byte[] bytes) {
        return name.startsWith("entity") ? HexFormat.of().formatHex(bytes) : new String(bytes, StandardCharsets.UTF_8);
    }

    enum Kind {
        CARD,
        CASH
    }

    record Payment(long id, BigDecimal amount, @Nullable String note, Kind kind, List<String> tags) {}

    record Times(Instant at, LocalDate day, OffsetDateTime sent, Duration took, DayOfWeek weekday) {}

    static Stream<Arguments> forms() {
        Payment payment = new Payment(1, new BigDecimal("10.50"), null, Kind.CARD, List.of("a", "Zo\u00eb"));
        return Stream.of(true, false)
                .flatMap(jackson3 -> Stream.of(
                        form(jackson3, "record", payment, Payment.class),
                        form(jackson3, "nothing", null, Payment.class),
                        form(
                                jackson3,
                                "times",
                                new Times(
                                        Instant.parse("2026-01-02T03:04:05.123456789Z"),
                                        LocalDate.of(2026, 1, 2),
                                        OffsetDateTime.parse("2026-01-02T03:04:05+05:30"),
                                        Duration.ofMillis(1500),
                                        DayOfWeek.FRIDAY),
                                Times.class),
                        form(jackson3, "list", List.of(payment), new ParameterizedTypeReference<List<Payment>>() {}),
                        form(
                                jackson3,
                                "map",
                                Map.of(new UUID(1, 2), 7L),
                                new ParameterizedTypeReference<Map<UUID, Long>>() {}),
                        form(
                                jackson3,
                                "present optional",
                                Optional.of(payment),
                                new ParameterizedTypeReference<Optional<Payment>>() {}),
                        form(
                                jackson3,
                                "empty optional",
                                Optional.empty(),
                                new ParameterizedTypeReference<Optional<Payment>>() {}),
                        form(jackson3, "number", 1L, Long.class),
                        form(jackson3, "bytes", new byte[] {0, -1, 7}, byte[].class),
                        form(
                                jackson3,
                                "entity",
                                ResponseEntity.status(201)
                                        .header("Location", "/payments/1")
                                        .body(payment),
                                new ParameterizedTypeReference<ResponseEntity<Payment>>() {}),
                        form(
                                jackson3,
                                "entity of a text",
                                ResponseEntity.ok("done"),
                                new ParameterizedTypeReference<ResponseEntity<String>>() {}),
                        form(
                                jackson3,
                                "entity without a body",
                                ResponseEntity.noContent().build(),
                                new ParameterizedTypeReference<ResponseEntity<Void>>() {})));
    }

    private static Arguments form(
            boolean jackson3, String name, @Nullable Object value, ParameterizedTypeReference<?> type) {
        return form(jackson3, name, value, type.getType());
    }

    private static Arguments form(boolean jackson3, String name, @Nullable Object value, Type type) {
        ResultCodec json =
                new JsonResultCodec(jackson3 ? new Jackson3Values(List.of()) : new Jackson2Values(List.of()));
        ResultCodec codec = name.startsWith("entity")
                ? new ResponseEntityResultCodec(List.of(new StringResultCodec(), new VoidResultCodec(), json))
                : json;
        return Arguments.of(name, jackson3 ? "Jackson 3" : "Jackson 2", codec, type, value);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("forms")
    void isWrittenAsEver(String name, String jackson, ResultCodec codec, Type type, @Nullable Object value) {
        assertThat(text(name, codec.encode(value, type))).isEqualTo(text(name, KEPT.get(name)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("forms")
    void isReadAsEver(String name, String jackson, ResultCodec codec, Type type, @Nullable Object value) {
        assertThat(codec.decode(KEPT.get(name), type))
                .usingRecursiveComparison()
                .isEqualTo(value);
    }
}
