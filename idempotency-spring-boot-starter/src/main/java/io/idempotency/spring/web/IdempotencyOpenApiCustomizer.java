package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.ProblemCode;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.Paths;
import io.swagger.v3.oas.models.examples.Example;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.http.server.PathContainer;
import org.springframework.web.method.HandlerMethod;

/**
 * Describes idempotent handlers in the OpenAPI document that springdoc makes: the header of the key, the refusals, and what marks a
 * replay. What the application says itself about any of these stays as it is.
 *
 * @since 0.1.0
 */
public final class IdempotencyOpenApiCustomizer implements GlobalOperationCustomizer, GlobalOpenApiCustomizer {

    static final String EXTENSION = "x-idempotency-operation";

    private static final String PROBLEM = "application/problem+json";

    private final IdempotentMethods methods;
    private final List<PathRule> rules;
    private final WebSettings settings;
    private final ProblemWriter problems;

    /**
     * @param rules as the filter has them
     * @param problems words the examples
     */
    public IdempotencyOpenApiCustomizer(
            IdempotentMethods methods, List<PathRule> rules, WebSettings settings, ProblemWriter problems) {
        this.methods = methods;
        this.rules = List.copyOf(rules);
        this.settings = settings;
        this.problems = problems;
    }

    @Override
    public Operation customize(Operation operation, HandlerMethod handler) {
        IdempotentMethod method = methods.find(handler.getMethod(), handler.getBeanType());
        if (method != null && method.door() == Door.HTTP) {
            describe(operation, HttpOperation.of(method));
        }
        return operation;
    }

    /** The rules by path: only the finished document tells the paths. */
    @Override
    public void customise(OpenAPI openApi) {
        Paths paths = openApi.getPaths();
        if (paths != null && !rules.isEmpty()) {
            paths.forEach((path, item) -> item.readOperationsMap()
                    .forEach((httpMethod, operation) -> describeByRule(path, httpMethod.name(), operation)));
        }
    }

    private void describeByRule(String path, String httpMethod, Operation operation) {
        boolean annotated =
                operation.getExtensions() != null && operation.getExtensions().containsKey(EXTENSION);
        if (annotated) {
            return;
        }
        PathContainer parsed = PathContainer.parsePath(path);
        rules.stream()
                .filter(rule ->
                        rule.methods().contains(httpMethod) && rule.pattern().matches(parsed))
                .findFirst()
                .ifPresent(rule -> describe(operation, rule.operation()));
    }

    private void describe(Operation document, HttpOperation operation) {
        document.addExtension(EXTENSION, operation.name());
        if (operation.key() == null) {
            addKey(document, operation.keyRequired());
        }
        ApiResponses responses = document.getResponses();
        if (responses == null) {
            responses = new ApiResponses();
            document.setResponses(responses);
        }
        addReplayHeaders(responses, operation);
        addProblems(responses, operation);
    }

    private void addKey(Operation document, boolean required) {
        List<Parameter> known = document.getParameters() == null ? List.of() : document.getParameters();
        boolean described = known.stream()
                .anyMatch(each ->
                        "header".equals(each.getIn()) && settings.header().equalsIgnoreCase(each.getName()));
        if (!described) {
            document.addParametersItem(new Parameter()
                    .in("header")
                    .name(settings.header())
                    .required(required)
                    .description("One key per intent, the same with every retry.")
                    .schema(typed(new StringSchema()).minLength(1).maxLength(HeaderKey.LONGEST)));
        }
    }

    private void addReplayHeaders(ApiResponses responses, HttpOperation operation) {
        responses.forEach((status, response) -> {
            if (status.startsWith("2") || status.startsWith("3")) {
                if (!operation.settings().rejectDuplicates()) {
                    addHeader(response, settings.replayedHeader(), "Only with a replay: true.", new StringSchema());
                }
                addHeader(response, Answers.EXPIRES, "Until when a retry gets this response.", new StringSchema());
            }
        });
    }

    private void addProblems(ApiResponses responses, HttpOperation operation) {
        Map<Integer, List<ProblemCode>> byStatus = new TreeMap<>();
        for (ProblemCode code : ProblemCode.values()) {
            if (canMeet(operation, code)) {
                byStatus.computeIfAbsent(ProblemWriter.statusOf(code), absent -> new ArrayList<>())
                        .add(code);
            }
        }
        byStatus.forEach((status, codes) -> addProblems(responses, status.toString(), codes));
    }

    private boolean canMeet(HttpOperation operation, ProblemCode code) {
        OperationSettings run = operation.settings();
        return switch (code) {
            case KEY_MISSING -> operation.key() == null && operation.keyRequired();
            case CALLER_UNKNOWN -> operation.key() == null && settings.anonymous() == AnonymousCallers.REFUSE;
            case KEY_REUSED ->
                operation.fingerprint() != null || operation.fingerprintScheme() != FingerprintScheme.NONE;
            case OUTCOME_UNKNOWN -> run.guarantee() == Guarantee.AT_MOST_ONCE;
            case DUPLICATE_REJECTED -> run.rejectDuplicates();
            case RESULT_NOT_REPLAYABLE -> !run.rejectDuplicates();
            case STORE_UNAVAILABLE -> !run.proceedOnStoreFailure();
            case KEY_INVALID, IN_PROGRESS, REQUEST_TOO_LARGE -> true;
            // A failure of the service, like any other 500.
            case RESULT_UNREADABLE -> false;
        };
    }

    private void addProblems(ApiResponses responses, String status, List<ProblemCode> codes) {
        ApiResponse response = responses.get(status);
        if (response == null) {
            response = new ApiResponse()
                    .description(codes.stream().map(ProblemCode::code).collect(Collectors.joining(", ")));
            responses.addApiResponse(status, response);
        }
        if (response.get$ref() != null) {
            return;
        }
        Content content = response.getContent() == null ? new Content() : response.getContent();
        if (!content.containsKey(PROBLEM)) {
            MediaType problem = new MediaType().schema(schema(codes));
            codes.forEach(code -> problem.addExamples(code.code(), new Example().value(problems.example(code))));
            response.setContent(content.addMediaType(PROBLEM, problem));
        }
        if (codes.stream().anyMatch(ProblemWriter::mayTellWhenToRetry)) {
            addHeader(response, "Retry-After", "Seconds to wait before a retry.", new IntegerSchema());
        }
    }

    private static Schema<?> schema(List<ProblemCode> codes) {
        StringSchema code = new StringSchema();
        codes.forEach(each -> code.addEnumItem(each.code()));
        Schema<?> problem = typed(new ObjectSchema())
                .addProperty("type", typed(new StringSchema()).format("uri"))
                .addProperty("title", typed(new StringSchema()))
                .addProperty("status", typed(new IntegerSchema()))
                .addProperty("detail", typed(new StringSchema()))
                .addProperty("code", typed(code));
        if (codes.contains(ProblemCode.KEY_REUSED)) {
            problem.addProperty("differences", strings()).addProperty("pointers", strings());
        }
        if (codes.contains(ProblemCode.RESULT_NOT_REPLAYABLE)) {
            problem.addProperty("originalStatus", typed(new IntegerSchema()));
        }
        return problem;
    }

    private static Schema<?> strings() {
        return typed(new ArraySchema()).items(typed(new StringSchema()));
    }

    // A document of OpenAPI 3.0 shows the type, one of 3.1 the types.
    private static Schema<?> typed(Schema<?> schema) {
        schema.addType(schema.getType());
        return schema;
    }

    private static void addHeader(ApiResponse response, String name, String description, Schema<?> schema) {
        if (response.getHeaders() == null || !response.getHeaders().containsKey(name)) {
            response.addHeaderObject(name, new Header().description(description).schema(typed(schema)));
        }
    }
}
