package io.idempotency.it.jpa;

import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An entity whose id comes from a sequence: nothing is inserted before the flush. */
@Entity
public class Booking {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    @Version
    private long version;

    @Column(unique = true, nullable = false)
    private String reference = "";

    private int changes;

    /** Loaded lazily. */
    @ElementCollection
    private List<String> seats = new ArrayList<>();

    protected Booking() {}

    Booking(String reference) {
        this.reference = reference;
        this.seats.add("12A");
    }

    void change() {
        changes++;
    }

    public String getReference() {
        return reference;
    }

    public int getChanges() {
        return changes;
    }

    public List<String> getSeats() {
        return seats;
    }
}
