package io.idempotency.samples.orders.order;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.stereotype.Repository;

/** Orders. */
@Repository
public class OrderRepository {

    private final JdbcClient jdbc;

    public OrderRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public Order add(String customer, BigDecimal amount) {
        // What is answered now must equal what a later read finds: two decimals, milliseconds.
        BigDecimal scaledAmount = amount.setScale(2);
        Instant placedAt = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        var generatedId = new GeneratedKeyHolder();
        jdbc.sql("""
                        insert into placed_order (customer, amount, placed_at, published)
                        values (:customer, :amount, :placedAt, false)
                        """)
                .param("customer", customer)
                .param("amount", scaledAmount)
                .param("placedAt", Timestamp.from(placedAt))
                .update(generatedId, "id");
        long id = Objects.requireNonNull(generatedId.getKey()).longValue();
        return new Order(id, customer, scaledAmount, placedAt);
    }

    public Optional<Order> find(long id) {
        return jdbc.sql("select * from placed_order where id = :id")
                .param("id", id)
                .query(OrderRepository::toOrder)
                .optional();
    }

    public List<Order> findAll() {
        return jdbc.sql("select * from placed_order order by id desc")
                .query(OrderRepository::toOrder)
                .list();
    }

    public List<Order> findUnpublished() {
        return jdbc.sql("select * from placed_order where not published order by id limit 100")
                .query(OrderRepository::toOrder)
                .list();
    }

    public void markPublished(long id) {
        jdbc.sql("update placed_order set published = true where id = :id")
                .param("id", id)
                .update();
    }

    private static Order toOrder(ResultSet row, int rowNumber) throws SQLException {
        return new Order(
                row.getLong("id"),
                row.getString("customer"),
                row.getBigDecimal("amount"),
                row.getTimestamp("placed_at").toInstant());
    }
}
