package io.idempotency.samples.orders.order;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import jakarta.validation.Valid;
import java.net.URI;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP API of the orders. */
@RestController
public class OrderController {

    private final OrderService service;
    private final OrderRepository orders;

    public OrderController(OrderService service, OrderRepository orders) {
        this.service = service;
        this.orders = orders;
    }

    @PostMapping("/orders")
    @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
    public ResponseEntity<Order> place(@Valid @RequestBody OrderRequest request) {
        Order order = service.place(request);
        return ResponseEntity.created(URI.create("/orders/" + order.id())).body(order);
    }

    @GetMapping("/orders")
    public List<Order> orders() {
        return orders.findAll();
    }

    @GetMapping("/orders/{id}")
    public ResponseEntity<Order> order(@PathVariable long id) {
        return ResponseEntity.of(orders.find(id));
    }
}
