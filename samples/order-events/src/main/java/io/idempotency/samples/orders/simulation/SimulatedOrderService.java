package io.idempotency.samples.orders.simulation;

import io.idempotency.samples.orders.order.Order;
import io.idempotency.samples.orders.order.OrderRepository;
import io.idempotency.samples.orders.order.OrderRequest;
import io.idempotency.samples.orders.order.OrderService;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.context.annotation.Primary;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Remembers what the request wants to go wrong. */
@Service
@Primary
class SimulatedOrderService extends OrderService {

    private static final String HEADER = "X-Simulate";

    private final HttpServletRequest http;
    private final Simulations simulations;

    SimulatedOrderService(OrderRepository orders, HttpServletRequest http, Simulations simulations) {
        super(orders);
        this.http = http;
        this.simulations = simulations;
    }

    @Override
    @Transactional
    public Order place(OrderRequest request) {
        Order order = super.place(request);
        String simulation = http.getHeader(HEADER);
        if (simulation != null) {
            simulations.plan(order.id(), simulation);
        }
        return order;
    }
}
