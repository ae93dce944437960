package io.idempotency.it.jpa;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** A booking service on Spring Data JPA. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(BookingController.class)
class BookingApplication {

    @Bean
    RefusingService refusingService() {
        return new RefusingService();
    }

    @Bean
    BookingService bookingService(
            BookingRepository bookings, ApplicationEventPublisher events, RefusingService refusing) {
        return new BookingService(bookings, events, refusing);
    }
}
