package io.idempotency.it.jpa;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.transaction.annotation.Transactional;

/** What an application does in its transactions, for better or worse. */
class BookingService {

    private final BookingRepository bookings;
    private final ApplicationEventPublisher events;
    private final RefusingService refusing;

    BookingService(BookingRepository bookings, ApplicationEventPublisher events, RefusingService refusing) {
        this.bookings = bookings;
        this.events = events;
        this.refusing = refusing;
    }

    @Transactional
    public Booking book(String reference) {
        return bookings.save(new Booking(reference));
    }

    @Transactional
    public Booking bookAndFlush(String reference) {
        return bookings.saveAndFlush(new Booking(reference));
    }

    @Transactional
    public Booking change(String reference) {
        Booking booking = bookings.findByReference(reference).orElseThrow();
        booking.change();
        return booking;
    }

    @Transactional
    public Booking bookAndThrow(String reference) {
        bookings.saveAndFlush(new Booking(reference));
        throw new RefusedException();
    }

    @Transactional
    public Booking bookAndNotify(String reference) throws NoticeException {
        bookings.save(new Booking(reference));
        throw new NoticeException();
    }

    /** Carries on after an inner service has thrown: the transaction is rollback-only, and nobody looks. */
    @Transactional
    public Booking bookAndSwallow(String reference) {
        Booking booking = bookings.save(new Booking(reference));
        try {
            refusing.refuse();
        } catch (RefusedException e) {
            return booking;
        }
        throw new IllegalStateException("the inner service did not refuse");
    }

    @Transactional
    public Booking bookAndFailBeforeCommit(String reference) {
        Booking booking = bookings.save(new Booking(reference));
        events.publishEvent(new RefusedBeforeCommit(reference));
        return booking;
    }

    record RefusedBeforeCommit(String reference) {}
}
