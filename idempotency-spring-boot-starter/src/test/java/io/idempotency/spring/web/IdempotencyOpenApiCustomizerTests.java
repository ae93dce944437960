package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.Paths;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.pattern.PathPatternParser;

class IdempotencyOpenApiCustomizerTests {

    private static final WebSettings SETTINGS = WebSettings.defaults();

    private final IdempotencyOpenApiCustomizer customizer = customizer(SETTINGS);
    private final Operation document =
            new Operation().responses(new ApiResponses().addApiResponse("201", new ApiResponse()));

    private static IdempotencyOpenApiCustomizer customizer(WebSettings settings) {
        PathRule rule = new PathRule(
                Set.of("POST", "PATCH"),
                PathPatternParser.defaultInstance.parse("/imports/**"),
                OperationSettings.of("imports", Guarantee.AT_LEAST_ONCE).build(),
                false,
                FingerprintScheme.RAW);
        return new IdempotencyOpenApiCustomizer(
                TestMethods.leased(), List.of(rule), settings, new ProblemWriter(settings, null));
    }

    private Operation describe(String handler) {
        return customizer.customize(document, handler(new CaseHandlers(new Effects()), handler));
    }

    private static HandlerMethod handler(Object bean, String name) {
        return new HandlerMethod(
                bean,
                Arrays.stream(bean.getClass().getDeclaredMethods())
                        .filter(method -> method.getName().equals(name))
                        .findFirst()
                        .orElseThrow());
    }

    private List<?> codes(String status) {
        return schema(status).getProperties().get("code").getEnum();
    }

    private Schema<?> schema(String status) {
        return content(status).getSchema();
    }

    private MediaType content(String status) {
        return document.getResponses().get(status).getContent().get("application/problem+json");
    }

    private Set<String> headers(String status) {
        return document.getResponses().get(status).getHeaders().keySet();
    }

    @Test
    void describesTheKeyTheRefusalsAndTheReplay() {
        describe("required");

        assertThat(document.getParameters()).singleElement().satisfies(key -> {
            assertThat(key.getName()).isEqualTo("Idempotency-Key");
            assertThat(key.getIn()).isEqualTo("header");
            assertThat(key.getRequired()).isTrue();
            assertThat(key.getSchema().getMaxLength()).isEqualTo(255);
        });
        assertThat(document.getResponses()).containsOnlyKeys("201", "400", "409", "413", "422", "503");
        assertThat(codes("400")).hasToString("[key-missing, key-invalid]");
        assertThat(codes("409")).hasToString("[in-progress, result-not-replayable]");
        assertThat(schema("422").getProperties()).containsKeys("differences", "pointers");
        assertThat(content("422").getExamples().get("key-reused").getValue())
                .hasToString(new ProblemWriter(SETTINGS, null)
                        .example(io.idempotency.ProblemCode.KEY_REUSED)
                        .toString());
        assertThat(headers("201")).containsExactly("Idempotent-Replayed", "Idempotency-Expires");
        assertThat(headers("409")).containsExactly("Retry-After");
        assertThat(headers("503")).containsExactly("Retry-After");
        assertThat(document.getResponses().get("422").getHeaders()).isNull();
    }

    @Test
    void describesOnlyWhatAnOperationCanMeet() {
        describe("optional");
        assertThat(document.getParameters().get(0).getRequired()).isFalse();
        assertThat(codes("400")).hasToString("[key-invalid]");
    }

    @Test
    void describesNoReplayWhereDuplicatesAreRejected() {
        describe("once");
        assertThat(codes("409")).hasToString("[in-progress, duplicate-rejected]");
        assertThat(headers("201")).containsExactly("Idempotency-Expires");
    }

    @Test
    void describesNoMismatchWhereNothingIsCompared() {
        describe("uncompared");
        assertThat(document.getResponses()).doesNotContainKey("422");
    }

    @Test
    void describesTheOutcomeThatNobodyKnows() {
        describe("atMostOnceStatus");
        assertThat(codes("409")).hasToString("[in-progress, outcome-unknown, result-not-replayable]");
    }

    @Test
    void describesCallersThatAreRefusedAndTheConfiguredHeaders() {
        WebSettings settings = new TestWebSettings()
                .header("X-Key")
                .anonymous(AnonymousCallers.REFUSE)
                .replayedHeader("X-Again")
                .problemTypeBase("https://example.org/")
                .build();
        customizer(settings).customize(document, handler(new CaseHandlers(new Effects()), "required"));

        assertThat(document.getParameters().get(0).getName()).isEqualTo("X-Key");
        assertThat(codes("400")).hasToString("[key-missing, key-invalid, caller-unknown]");
        assertThat(headers("201")).contains("X-Again");
        assertThat(content("400").getExamples().get("key-missing").getValue())
                .asString()
                .contains("https://example.org/key-missing", "X-Key");
    }

    /** A key that is made of the request has no header, also not by a rule for the same path. */
    @Test
    void describesNoHeaderForAKeyOfTheRequest() {
        customizer.customize(document, handler(new Orders(), "order"));
        customizer.customise(new OpenAPI().paths(new Paths().addPathItem("/imports/a", new PathItem().post(document))));

        assertThat(document.getParameters()).isNull();
        assertThat(codes("400")).hasToString("[key-invalid]");
        assertThat(document.getExtensions()).containsEntry("x-idempotency-operation", "order");
    }

    @Test
    void describesHandlersByTheirPathToo() {
        Operation get = new Operation();
        Operation elsewhere = new Operation();
        customizer.customise(new OpenAPI()
                .paths(new Paths()
                        .addPathItem(
                                "/imports/{id}", new PathItem().post(document).get(get))
                        .addPathItem("/exports", new PathItem().post(elsewhere))));
        customizer.customise(new OpenAPI());

        assertThat(document.getParameters()).hasSize(1);
        assertThat(document.getResponses()).containsKeys("400", "409");
        assertThat(get).isEqualTo(new Operation());
        assertThat(elsewhere).isEqualTo(new Operation());
    }

    /** Idempotent as a method: it has no header and no problems of this kind. */
    @Test
    void leavesHandlersAloneThatAreIdempotentByAnotherDoor() {
        IdempotentMethods asMethods = (method, type) -> {
            IdempotentMethod http = TestMethods.leased().find(method, type);
            return http == null
                    ? null
                    : new IdempotentMethod(
                            http.method(),
                            http.settings(),
                            http.keyRequired(),
                            http.fingerprintScheme(),
                            Door.METHOD,
                            http.key(),
                            http.fingerprint());
        };
        Operation untouched = new Operation();

        new IdempotencyOpenApiCustomizer(asMethods, List.of(), SETTINGS, new ProblemWriter(SETTINGS, null))
                .customize(untouched, handler(new CaseHandlers(new Effects()), "required"));

        assertThat(untouched).isEqualTo(new Operation());
    }

    @Test
    void leavesOtherHandlersAlone() {
        Operation untouched = new Operation();

        assertThat(customizer.customize(untouched, handler(new CaseHandlers(new Effects()), "uncovered")))
                .isSameAs(untouched)
                .isEqualTo(new Operation());
    }

    /** Also of a second time: springdoc may describe an operation again. */
    @Test
    void keepsWhatTheApplicationSays() {
        Parameter key = new Parameter().in("header").name("idempotency-key").description("ours");
        MediaType problem = new MediaType().schema(new StringSchema());
        document.addParametersItem(key);
        document.getResponses()
                .addApiResponse("400", new ApiResponse().$ref("#/components/responses/Bad"))
                .addApiResponse(
                        "409",
                        new ApiResponse()
                                .description("Conflict")
                                .content(new Content().addMediaType("application/problem+json", problem)))
                .addApiResponse("422", new ApiResponse().description("Invalid"));

        describe("required");
        describe("required");

        assertThat(document.getParameters()).containsExactly(key);
        assertThat(document.getResponses().get("400").getContent()).isNull();
        assertThat(document.getResponses().get("409").getDescription()).isEqualTo("Conflict");
        assertThat(content("409")).isSameAs(problem);
        assertThat(document.getResponses().get("422").getDescription()).isEqualTo("Invalid");
        assertThat(codes("422")).hasToString("[key-reused]");
    }

    static class Orders {

        @Idempotent(key = "#number")
        String order(String number) {
            return number;
        }
    }
}
