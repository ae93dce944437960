package io.idempotency.it.jpa;

import io.idempotency.Idempotent;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** One endpoint per way to end a transaction. */
@RestController
class BookingController {

    /** How often a handler ran. */
    static final AtomicInteger runs = new AtomicInteger();

    private final BookingService service;

    BookingController(BookingService service) {
        this.service = service;
    }

    @PostMapping("/book/{reference}")
    @Idempotent
    public ResponseEntity<Booking> book(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.book(reference));
    }

    @PostMapping("/book-and-flush/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndFlush(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.bookAndFlush(reference));
    }

    @PostMapping("/change/{reference}")
    @Idempotent
    public ResponseEntity<Booking> change(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.change(reference));
    }

    @PostMapping("/throw/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndThrow(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.bookAndThrow(reference));
    }

    @PostMapping("/catch/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndCatch(@PathVariable String reference) {
        runs.incrementAndGet();
        try {
            runs.incrementAndGet();
            return created(service.bookAndThrow(reference));
        } catch (RefusedException e) {
            return ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).build();
        }
    }

    @PostMapping("/notify/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndNotify(@PathVariable String reference) throws NoticeException {
        runs.incrementAndGet();
        return created(service.bookAndNotify(reference));
    }

    @PostMapping("/notify-and-commit/{reference}")
    @Idempotent
    @Transactional
    public ResponseEntity<Booking> bookAndNotifyInATransaction(@PathVariable String reference) throws NoticeException {
        runs.incrementAndGet();
        return created(service.bookAndNotify(reference));
    }

    @PostMapping("/swallow/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndSwallow(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.bookAndSwallow(reference));
    }

    @PostMapping("/fail-before-commit/{reference}")
    @Idempotent
    public ResponseEntity<Booking> bookAndFailBeforeCommit(@PathVariable String reference) {
        runs.incrementAndGet();
        return created(service.bookAndFailBeforeCommit(reference));
    }

    @ExceptionHandler
    ResponseEntity<String> refused(RefusedException failure) {
        return ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).body("refused");
    }

    @ExceptionHandler
    ResponseEntity<String> notice(NoticeException failure) {
        return ResponseEntity.unprocessableContent().body("read the notice");
    }

    @ExceptionHandler
    ResponseEntity<String> duplicate(DataIntegrityViolationException failure) {
        return ResponseEntity.unprocessableContent().body("reference is taken");
    }

    private static ResponseEntity<Booking> created(Booking booking) {
        return ResponseEntity.status(HttpStatus.CREATED).body(booking);
    }
}
