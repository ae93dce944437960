package io.idempotency.it.jpa;

import java.util.Optional;
import org.springframework.data.jpa.repository.JpaRepository;

interface BookingRepository extends JpaRepository<Booking, Long> {

    Optional<Booking> findByReference(String reference);
}
