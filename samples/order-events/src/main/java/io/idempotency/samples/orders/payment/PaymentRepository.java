package io.idempotency.samples.orders.payment;

import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** Payments. */
@Repository
public class PaymentRepository {

    private final JdbcClient jdbc;

    public PaymentRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public void add(long orderId, String customer, BigDecimal amount) {
        jdbc.sql("""
                        insert into payment (order_id, customer, amount, paid_at)
                        values (:orderId, :customer, :amount, :paidAt)
                        """)
                .param("orderId", orderId)
                .param("customer", customer)
                .param("amount", amount)
                .param("paidAt", Timestamp.from(Instant.now()))
                .update();
    }

    public List<Payment> findAll() {
        return jdbc.sql("select * from payment order by id desc")
                .query(PaymentRepository::toPayment)
                .list();
    }

    private static Payment toPayment(ResultSet row, int rowNumber) throws SQLException {
        return new Payment(
                row.getLong("id"),
                row.getLong("order_id"),
                row.getString("customer"),
                row.getBigDecimal("amount"),
                row.getTimestamp("paid_at").toInstant());
    }
}
