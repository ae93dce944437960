package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.IdempotencyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ProblemCode;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** Case 120, and the one mapping of codes to exceptions, statuses and texts. */
class ProblemWriterTests {

    private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/payments");
    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final ProblemWriter problems = new ProblemWriter(WebSettings.defaults(), null);

    private JsonNode write(ProblemWriter writer, IdempotencyException refusal) throws IOException {
        response.reset();
        writer.write(request, response, refusal);
        return new ObjectMapper().readTree(response.getContentAsByteArray());
    }

    @ParameterizedTest
    @CsvSource({
        "KEY_MISSING, 400",
        "KEY_INVALID, 400",
        "CALLER_UNKNOWN, 400",
        "KEY_REUSED, 422",
        "IN_PROGRESS, 409",
        "OUTCOME_UNKNOWN, 409",
        "RESULT_NOT_REPLAYABLE, 409",
        "DUPLICATE_REJECTED, 409",
        "RESULT_UNREADABLE, 500",
        "REQUEST_TOO_LARGE, 413",
        "STORE_UNAVAILABLE, 503"
    })
    void answersEveryCodeWithItsStatus(ProblemCode code, int status) throws IOException {
        JsonNode body = write(problems, Refusals.of(code));

        assertThat(response.getStatus()).isEqualTo(status);
        assertThat(response.getContentType()).isEqualTo("application/problem+json");
        assertThat(response.getContentLength()).isEqualTo(response.getContentAsByteArray().length);
        assertThat(body.get("status").asInt()).isEqualTo(status);
        assertThat(body.get("code").asText()).isEqualTo(code.code());
        assertThat(body.get("type").asText()).isEqualTo("urn:idempotency:" + code.code());
        assertThat(body.get("title").asText()).isNotBlank().doesNotContain("{", "''");
        assertThat(body.get("detail").asText()).isNotBlank().doesNotContain("{", "''");
    }

    /** Every code has one exception, one status and its texts in every shipped language, and there is nothing beyond them. */
    @Test
    void hasOneOfEverythingForEveryCode() throws IOException {
        assertThat(Refusals.all().stream().map(IdempotencyException::code))
                .containsExactlyInAnyOrder(ProblemCode.values());
        assertThat(Refusals.all().stream().map(Object::getClass))
                .containsExactlyInAnyOrder(IdempotencyException.class.getPermittedSubclasses());
        List<String> expected = Arrays.stream(ProblemCode.values())
                .flatMap(code -> Stream.of(
                        ProblemTexts.PREFIX + code.code() + ".title", ProblemTexts.PREFIX + code.code() + ".detail"))
                .toList();
        for (String file : new String[] {"messages.properties", "messages_zh.properties"}) {
            Properties texts = new Properties();
            try (Reader in = new InputStreamReader(
                    Objects.requireNonNull(ProblemWriter.class.getResourceAsStream(file)), StandardCharsets.UTF_8)) {
                texts.load(in);
            }
            assertThat(texts.stringPropertyNames()).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(texts.values().stream().map(Object::toString)).allMatch(text -> !text.contains("'"));
        }
    }

    /** The manual has a page for every code, with its status, and for no other. */
    @Test
    void hasAPageForEveryCode() throws IOException {
        String pages = Files.readString(Path.of("..", "docs", "problems.md"));

        assertThat(Pattern.compile("^## (\\S+)\\n\\n(\\d{3})\\. ", Pattern.MULTILINE)
                        .matcher(pages)
                        .results()
                        .map(page -> page.group(1) + " " + page.group(2)))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ProblemCode.values())
                        .map(code -> code.code() + " " + ProblemWriter.statusOf(code))
                        .toList());
        assertThat(pages.lines().filter(line -> line.startsWith("## "))).hasSameSizeAs(ProblemCode.values());
    }

    /** Case 120. */
    @ParameterizedTest
    @EnumSource
    void tellsNothingOfTheException(ProblemCode code) throws IOException {
        write(problems, Refusals.of(code));

        assertThat(response.getContentAsString(StandardCharsets.UTF_8)).doesNotContain("s3cr3t", "<b>");
    }

    @Test
    void saysWhenToComeBack() throws IOException {
        write(problems, Refusals.of(ProblemCode.IN_PROGRESS));
        assertThat(response.getHeader("Retry-After")).isEqualTo("2");
        write(problems, new OperationInProgressException("", Duration.ofMillis(300)));
        assertThat(response.getHeader("Retry-After")).isEqualTo("1");
        write(problems, Refusals.of(ProblemCode.DUPLICATE_REJECTED));
        assertThat(response.getHeader("Retry-After")).isEqualTo("3");
        write(problems, Refusals.of(ProblemCode.STORE_UNAVAILABLE));
        assertThat(response.getHeader("Retry-After")).isEqualTo("1");
        for (ProblemCode code :
                List.of(ProblemCode.OUTCOME_UNKNOWN, ProblemCode.RESULT_NOT_REPLAYABLE, ProblemCode.KEY_REUSED)) {
            write(problems, Refusals.of(code));
            assertThat(response.getHeader("Retry-After")).isNull();
        }
    }

    /** Case 120: in the client's language, of those that there are; the machine's own is of no interest. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "zh-CN,zh;q=0.9,en;q=0.8 | zh | 缺少幂等键",
                "zh-TW | zh | 缺少幂等键",
                "fr, zh;q=0.5, en;q=0.1 | zh | 缺少幂等键",
                "en-GB, zh;q=0.5 | en | Idempotency key missing",
                "fr | en | Idempotency key missing",
                " | en | Idempotency key missing"
            })
    void speaksTheLanguageOfTheClient(String accepted, String language, String title) throws IOException {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.SIMPLIFIED_CHINESE);
        try {
            if (accepted != null) {
                request.addHeader("Accept-Language", accepted);
                request.setPreferredLocales(Arrays.stream(accepted.split(","))
                        .map(each -> Locale.forLanguageTag(each.split(";")[0].strip()))
                        .toList());
            }
            JsonNode body = write(problems, Refusals.of(ProblemCode.KEY_MISSING));

            assertThat(body.get("title").asText()).isEqualTo(title);
            assertThat(response.getHeader("Content-Language")).startsWith(language);
            assertThat(body.get("detail").asText()).contains("Idempotency-Key");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void takesTheWordsOfTheApplicationWhereItHasSome() throws IOException {
        StaticMessageSource own = new StaticMessageSource();
        own.addMessage("idempotency.problem.key-missing.title", Locale.FRENCH, "Clé \"absente\" \\ <b>");
        own.addMessage("idempotency.problem.key-missing.detail", Locale.FRENCH, "Envoyez {0}.");
        request.addHeader("Accept-Language", "fr");
        request.setPreferredLocales(List.of(Locale.FRENCH));

        JsonNode body = write(new ProblemWriter(WebSettings.defaults(), own), Refusals.of(ProblemCode.KEY_MISSING));

        assertThat(body.get("title").asText()).isEqualTo("Clé \"absente\" \\ <b>");
        assertThat(body.get("detail").asText()).isEqualTo("Envoyez Idempotency-Key.");
        assertThat(response.getContentAsString(StandardCharsets.UTF_8)).doesNotContain("<b>");
    }

    /** The language of the machine is not the client's. */
    @Test
    void isInEnglishForWhoNamesNoLanguage() throws IOException {
        MockHttpServletRequest onAChineseMachine = new MockHttpServletRequest("POST", "/payments") {
            @Override
            public Enumeration<Locale> getLocales() {
                return Collections.enumeration(List.of(Locale.CHINESE));
            }
        };
        problems.write(onAChineseMachine, response, Refusals.of(ProblemCode.KEY_MISSING));

        assertThat(response.getHeader("Content-Language")).isEqualTo("en");
        assertThat(response.getContentAsString()).contains("Idempotency key missing");
    }

    /** What the client has got is not continued with a problem. */
    @Test
    void writesNothingIntoTheMiddleOfAResponse() throws IOException {
        response.getOutputStream().print("begun");
        response.flushBuffer();

        assertThat(new RefusalExceptionResolver(problems)
                        .resolveException(request, response, null, Refusals.of(ProblemCode.KEY_MISSING)))
                .isNull();
        assertThat(response.getContentAsString()).isEqualTo("begun");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u0000\u001f\n\r\t", "\u2028 \ud83d\ude00", "\ud800"})
    void writesValidJsonWhateverTheTextIs(String text) throws IOException {
        StaticMessageSource own = new StaticMessageSource();
        own.addMessage("idempotency.problem.key-missing.title", Locale.ENGLISH, text);
        own.addMessage("idempotency.problem.key-missing.detail", Locale.ENGLISH, text);

        JsonNode body = write(new ProblemWriter(WebSettings.defaults(), own), Refusals.of(ProblemCode.KEY_MISSING));

        assertThat(body.get("title").asText()).isEqualTo(text);
    }
}
