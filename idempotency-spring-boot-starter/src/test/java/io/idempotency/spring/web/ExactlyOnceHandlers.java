package io.idempotency.spring.web;

import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Handlers that write a row, and end in every way in which a transaction can. */
@RestController
@RequestMapping("/tx")
class ExactlyOnceHandlers {

    private final Ledger ledger;
    private final Effects effects;

    ExactlyOnceHandlers(Ledger ledger, Effects effects) {
        this.ledger = ledger;
        this.effects = effects;
    }

    private void act(String key) {
        ledger.add(key);
        effects.add(key);
    }

    @PostMapping("/pay")
    @Idempotent
    ResponseEntity<Map<String, Object>> pay(@RequestHeader("Idempotency-Key") String key) {
        act(key);
        effects.passStop(key);
        return ResponseEntity.created(URI.create("/payments/1")).body(Map.of("n", effects.of(key)));
    }

    @PostMapping("/transactional")
    @Idempotent
    @Transactional
    public ResponseEntity<Map<String, Object>> transactional(@RequestHeader("Idempotency-Key") String key) {
        return pay(key);
    }

    @PostMapping("/fail")
    @Idempotent
    void fail(@RequestHeader("Idempotency-Key") String key) {
        act(key);
        throw new IllegalStateException("unhandled");
    }

    @PostMapping("/status-{status}")
    @Idempotent
    ResponseEntity<Void> status(@PathVariable int status, @RequestHeader("Idempotency-Key") String key) {
        act(key);
        return ResponseEntity.status(status).build();
    }

    @PostMapping("/rejected")
    @Idempotent
    void rejected(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        ledger.addAndThrow(key, new Rejected());
    }

    @PostMapping("/caught")
    @Idempotent
    ResponseEntity<ProblemDetail> caught(@RequestHeader("Idempotency-Key") String key) {
        try {
            rejected(key);
            return ResponseEntity.ok().build();
        } catch (Rejected e) {
            return ResponseEntity.of(ProblemDetail.forStatus(402)).build();
        }
    }

    @PostMapping("/caught-and-praised")
    @Idempotent(operation = "praised")
    ResponseEntity<String> caughtAndPraised(@RequestHeader("Idempotency-Key") String key) {
        caught(key);
        return ResponseEntity.created(URI.create("/payments/1")).body("paid");
    }

    @PostMapping("/enveloped")
    @Idempotent
    void enveloped(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        ledger.addAndThrow(key, new Enveloped());
    }

    @PostMapping("/stored")
    @Idempotent(storeFailures = Stored.class)
    void stored(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        ledger.addAndThrow(key, new Stored());
    }

    @PostMapping("/checked")
    @Idempotent
    void checked(@RequestHeader("Idempotency-Key") String key) throws Checked {
        act(key);
        throw new Checked();
    }

    @PostMapping("/checked-unhandled")
    @Idempotent(operation = "checked-unhandled")
    void checkedUnhandled(@RequestHeader("Idempotency-Key") String key) throws CheckedUnhandled {
        act(key);
        throw new CheckedUnhandled();
    }

    @PostMapping("/bound")
    @Idempotent
    void bound(@RequestHeader("Idempotency-Key") String key, @RequestBody Map<String, Object> body) {
        act(key);
    }

    @PostMapping("/commit-fails")
    @Idempotent(operation = "commit-fails")
    String commitFails(@RequestHeader("Idempotency-Key") String key) {
        act(key);
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                throw new DataIntegrityViolationException("seen by the flush");
            }
        });
        return "too early";
    }

    @PostMapping("/commit-of-refusal-fails")
    @Idempotent(operation = "commit-of-refusal-fails")
    ResponseEntity<String> commitOfRefusalFails(@RequestHeader("Idempotency-Key") String key) {
        return ResponseEntity.status(402).body(commitFails(key));
    }

    @PostMapping("/flushing")
    @Idempotent
    void flushing(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) throws IOException {
        act(key);
        response.setContentType("text/plain");
        response.getWriter().print("x".repeat(50_000));
        response.flushBuffer();
        response.getWriter().print("y".repeat(50_000));
        response.getWriter().flush();
        effects.passStop(key);
    }

    @PostMapping("/large/{size}")
    @Idempotent
    void large(@PathVariable int size, @RequestHeader("Idempotency-Key") String key, HttpServletResponse response)
            throws IOException {
        act(key);
        response.setContentType("application/octet-stream");
        byte[] block = new byte[1024];
        for (int i = 0; i < size / block.length; i++) {
            response.getOutputStream().write(block);
        }
    }

    @PostMapping("/callable")
    @Idempotent
    Object callable(@RequestHeader("Idempotency-Key") String key) {
        act(key);
        return (Callable<String>) () -> "later";
    }

    @PostMapping("/start-async-swallowed")
    @Idempotent
    String startAsyncSwallowed(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
        act(key);
        try {
            request.startAsync();
            return "later";
        } catch (IllegalStateException e) {
            return "done all the same";
        }
    }

    @PostMapping("/asks-for-async")
    @Idempotent
    String asksForAsync(HttpServletRequest request) {
        return request.isAsyncSupported() ? "supported" : "not supported";
    }

    /** Answers for every failure of its own with a status that is stored. */
    @RestController
    static class Advised {

        private final Ledger ledger;

        Advised(Ledger ledger) {
            this.ledger = ledger;
        }

        @PostMapping("/tx/callable-advised")
        @Idempotent
        Callable<String> callable(@RequestHeader("Idempotency-Key") String key) {
            ledger.add(key);
            return () -> "later";
        }

        @ExceptionHandler
        ResponseEntity<String> handle(IllegalStateException failure) {
            return ResponseEntity.badRequest().body("advised");
        }
    }

    @PostMapping("/start-async")
    @Idempotent
    void startAsync(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
        act(key);
        request.startAsync();
    }

    static class Ledger {

        private final JdbcClient jdbc;

        Ledger(DataSource dataSource) {
            jdbc = JdbcClient.create(dataSource);
        }

        @Transactional
        public void add(String key) {
            insert(key);
        }

        @Transactional
        public void addAndThrow(String key, RuntimeException failure) {
            insert(key);
            throw failure;
        }

        private void insert(String key) {
            jdbc.sql("insert into ledger (k) values (?)").param(key).update();
        }

        int rows(String key) {
            return jdbc.sql("select count(*) from ledger where k = ?")
                    .param(key)
                    .query(Integer.class)
                    .single();
        }

        int records() {
            return jdbc.sql("select count(*) from idempotency_record")
                    .query(Integer.class)
                    .single();
        }
    }

    static final class Rejected extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Enveloped extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Stored extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Checked extends Exception {
        private static final long serialVersionUID = 1L;
    }

    static final class CheckedUnhandled extends Exception {
        private static final long serialVersionUID = 1L;
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler(Rejected.class)
        ProblemDetail onRejected() {
            return ProblemDetail.forStatus(402);
        }

        @ExceptionHandler(Enveloped.class)
        @ResponseStatus(HttpStatus.OK)
        Map<String, Object> onEnveloped() {
            return Map.of("code", 402);
        }

        @ExceptionHandler(Stored.class)
        ProblemDetail onStored() {
            return ProblemDetail.forStatus(502);
        }

        @ExceptionHandler(Checked.class)
        ProblemDetail onChecked() {
            return ProblemDetail.forStatus(422);
        }

        @ExceptionHandler(DataIntegrityViolationException.class)
        ProblemDetail onIntegrity() {
            return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "integrity");
        }
    }
}
