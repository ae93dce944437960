package io.idempotency.it.jms;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.it.listeners.Ledger;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A service that may be called by a request, by a message and by other code. */
@Component
class Shipping {

    private final Ledger ledger;

    Shipping(Ledger ledger) {
        this.ledger = ledger;
    }

    @Idempotent(key = "#order", guarantee = Guarantee.EXACTLY_ONCE)
    public String ship(String order) {
        ledger.write("parcels", order);
        return "parcel " + ledger.count("parcels");
    }

    @RestController
    static class Requests {

        private final Shipping shipping;

        Requests(Shipping shipping) {
            this.shipping = shipping;
        }

        @PostMapping("/orders/{order}/parcel")
        String ship(@PathVariable String order) {
            return shipping.ship(order);
        }
    }

    @Component
    static class Messages {

        private final Shipping shipping;
        private final List<String> parcels = new CopyOnWriteArrayList<>();

        Messages(Shipping shipping) {
            this.shipping = shipping;
        }

        @JmsListener(destination = "orders")
        void ship(String order) {
            parcels.add(shipping.ship(order));
        }

        List<String> parcels() {
            return List.copyOf(parcels);
        }
    }
}
