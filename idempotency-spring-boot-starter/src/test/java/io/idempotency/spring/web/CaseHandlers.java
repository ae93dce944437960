package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.OnDuplicate;
import io.idempotency.Toggle;
import java.net.ConnectException;
import java.net.URI;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Handlers for the rules of keys, scopes and outcomes. Each execution counts as one effect of the key. */
@RestController
@RequestMapping("/cases")
class CaseHandlers {

    static final String KEY = "Idempotency-Key";

    private final Effects effects;

    CaseHandlers(Effects effects) {
        this.effects = effects;
    }

    /** An effect that is told apart from every other one. */
    private ResponseEntity<Map<String, Object>> created(String what, String key) {
        int n = effects.add(key);
        effects.passStop(key);
        return ResponseEntity.created(URI.create("/cases/" + what + "/" + n)).body(Map.of("what", what, "n", n));
    }

    @PostMapping("/required")
    @Idempotent
    ResponseEntity<Map<String, Object>> required(@RequestHeader(KEY) String key) {
        return created("required", key);
    }

    @PostMapping("/optional")
    @Idempotent(required = Toggle.OFF)
    ResponseEntity<Map<String, Object>> optional(@RequestHeader(name = KEY, defaultValue = "none") String key) {
        return created("optional", key);
    }

    @PostMapping("/uncovered")
    ResponseEntity<Map<String, Object>> uncovered(@RequestHeader(name = KEY, defaultValue = "uncovered") String key) {
        return created("uncovered", key);
    }

    @GetMapping("/required")
    Map<String, Object> get(@RequestHeader(KEY) String key) {
        return Map.of("n", effects.add(key));
    }

    @PostMapping("/orders")
    @Idempotent
    ResponseEntity<Map<String, Object>> order(@RequestHeader(KEY) String key, @RequestBody String body) {
        return created("order", key);
    }

    @PatchMapping("/orders")
    @Idempotent
    ResponseEntity<Map<String, Object>> patchOrder(@RequestHeader(KEY) String key) {
        return created("patched", key);
    }

    @PutMapping("/orders")
    @Idempotent
    ResponseEntity<Map<String, Object>> putOrder(@RequestHeader(KEY) String key) {
        return created("put", key);
    }

    @DeleteMapping("/orders")
    @Idempotent
    ResponseEntity<Map<String, Object>> deleteOrder(@RequestHeader(KEY) String key) {
        return created("deleted", key);
    }

    @PostMapping("/refunds")
    @Idempotent
    ResponseEntity<Map<String, Object>> refund(@RequestHeader(KEY) String key) {
        return created("refund", key);
    }

    @PostMapping("/orders/{id}/pay")
    @Idempotent
    ResponseEntity<Map<String, Object>> payOrder(@PathVariable String id, @RequestHeader(KEY) String key) {
        return created("pay-" + id, key);
    }

    @PostMapping("/json")
    @Idempotent(fingerprintScheme = FingerprintScheme.JSON)
    ResponseEntity<Map<String, Object>> json(@RequestHeader(KEY) String key, @RequestBody String body) {
        return created("json", key);
    }

    @PostMapping("/uncompared")
    @Idempotent(fingerprintScheme = FingerprintScheme.NONE)
    ResponseEntity<Map<String, Object>> uncompared(@RequestHeader(KEY) String key) {
        return created("uncompared", key);
    }

    @PostMapping("/once")
    @Idempotent(onDuplicate = OnDuplicate.REJECT, retention = "5s")
    ResponseEntity<Map<String, Object>> once(@RequestHeader(KEY) String key) {
        return created("once", key);
    }

    @PostMapping("/fact")
    @Idempotent(storeResult = Toggle.OFF)
    ResponseEntity<Map<String, Object>> fact(@RequestHeader(KEY) String key) {
        return created("fact", key);
    }

    @PostMapping("/patient")
    @Idempotent(waitAtMost = "20s")
    ResponseEntity<Map<String, Object>> patient(@RequestHeader(KEY) String key) {
        return created("patient", key);
    }

    /** The given status on the first call of a key, 201 on the second. */
    @PostMapping("/statuses/{status}")
    @Idempotent
    ResponseEntity<Map<String, Object>> status(@PathVariable int status, @RequestHeader(KEY) String key) {
        int n = effects.add(key);
        return ResponseEntity.status(n == 1 ? status : 201).body(Map.of("n", n));
    }

    @PostMapping("/at-most-once/statuses/{status}")
    @Idempotent(guarantee = Guarantee.AT_MOST_ONCE, lease = "1s")
    ResponseEntity<Map<String, Object>> atMostOnceStatus(@PathVariable int status, @RequestHeader(KEY) String key) {
        return status(status, key);
    }

    @PostMapping("/bound/{number}")
    @Idempotent
    ResponseEntity<Map<String, Object>> bound(
            @PathVariable int number, @RequestHeader(KEY) String key, @RequestBody Amount amount) {
        return created("bound", key);
    }

    @PostMapping("/validated")
    @Idempotent
    ResponseEntity<Map<String, Object>> validated(
            @RequestHeader(KEY) String key, @Validated @RequestBody Amount amount) {
        return created("validated", key);
    }

    @InitBinder("amount")
    void validateAmount(WebDataBinder binder) {
        binder.addValidators(Validator.forInstanceOf(Amount.class, (amount, errors) -> {
            if (amount.value() <= 0) {
                errors.reject("positive", "must be positive");
            }
        }));
    }

    @PostMapping("/failures/{kind}")
    @Idempotent(storeFailures = Stored.class, releaseFailures = Released.class)
    ResponseEntity<Map<String, Object>> failure(@PathVariable String kind, @RequestHeader(KEY) String key)
            throws Exception {
        int n = effects.add(key);
        if (n == 1) {
            fail(kind);
        }
        return ResponseEntity.status(201).body(Map.of("n", n));
    }

    @PostMapping("/at-most-once/failures/{kind}")
    @Idempotent(guarantee = Guarantee.AT_MOST_ONCE, lease = "1s", releaseFailures = Released.class)
    ResponseEntity<Map<String, Object>> atMostOnceFailure(@PathVariable String kind, @RequestHeader(KEY) String key)
            throws Exception {
        return failure(kind, key);
    }

    private static void fail(String kind) throws Exception {
        switch (kind) {
            case "stored" -> throw new Stored();
            case "released" -> throw new Released();
            case "rejected" -> throw new OrderRejected();
            case "conflicting" -> throw new Conflicting();
            case "envelope" -> throw new Enveloped();
            case "status" -> throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_ENTITY, "no such account");
            case "unreachable" -> throw new IllegalStateException(new ConnectException("refused"));
            case "error" -> throw new StackOverflowError("deep");
            default -> throw new IllegalArgumentException("unhandled");
        }
    }

    @PostMapping("/context")
    @Idempotent
    Map<String, Object> context(@RequestHeader(KEY) String key) {
        effects.add(key);
        IdempotencyContext context = IdempotencyContext.current().orElseThrow();
        return Map.of("operation", context.operation(), "key", context.key(), "child", context.childKey("charge"));
    }

    @ExceptionHandler(Stored.class)
    ProblemDetail onStored() {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_GATEWAY, "stored although it is a 502");
    }

    @ExceptionHandler(Released.class)
    ProblemDetail onReleased() {
        return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST, "released although it is a 400");
    }

    @ExceptionHandler(OrderRejected.class)
    ProblemDetail onRejected() {
        return ProblemDetail.forStatusAndDetail(HttpStatus.UNPROCESSABLE_ENTITY, "rejected");
    }

    @ExceptionHandler(Conflicting.class)
    ProblemDetail onConflicting() {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "stale");
    }

    @ExceptionHandler(Enveloped.class)
    @ResponseStatus(HttpStatus.OK)
    Map<String, Object> onEnveloped() {
        return Map.of("code", 402);
    }

    record Amount(int value) {}

    static final class Stored extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Released extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class OrderRejected extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Conflicting extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Enveloped extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
