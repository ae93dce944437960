package io.idempotency.samples.orders.order;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Places orders. That one has to be published is a part of its row. */
@Service
public class OrderService {

    private final OrderRepository orders;

    public OrderService(OrderRepository orders) {
        this.orders = orders;
    }

    @Transactional
    public Order place(OrderRequest request) {
        return orders.add(request.customer(), request.amount());
    }
}
