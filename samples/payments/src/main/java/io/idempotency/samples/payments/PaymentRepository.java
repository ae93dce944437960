package io.idempotency.samples.payments;

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

/** Payments. */
@Repository
public class PaymentRepository {

    private final JdbcClient jdbc;

    public PaymentRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public Payment add(String account, BigDecimal amount, String currency) {
        // What is answered now must equal what a later read finds: two decimals, milliseconds.
        BigDecimal scaledAmount = amount.setScale(2);
        Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        var generatedId = new GeneratedKeyHolder();
        jdbc.sql("""
                        insert into payment (account, amount, currency, status, created_at)
                        values (:account, :amount, :currency, 'COMPLETED', :createdAt)
                        """)
                .param("account", account)
                .param("amount", scaledAmount)
                .param("currency", currency)
                .param("createdAt", Timestamp.from(createdAt))
                .update(generatedId, "id");
        long id = Objects.requireNonNull(generatedId.getKey()).longValue();
        return new Payment(id, account, scaledAmount, currency, "COMPLETED", createdAt);
    }

    public Optional<Payment> find(long id) {
        return jdbc.sql("select * from payment where id = :id")
                .param("id", id)
                .query(PaymentRepository::toPayment)
                .optional();
    }

    public List<Payment> findAll() {
        return jdbc.sql("select * from payment order by id desc")
                .query(PaymentRepository::toPayment)
                .list();
    }

    private static Payment toPayment(ResultSet row, int rowNumber) throws SQLException {
        return new Payment(
                row.getLong("id"),
                row.getString("account"),
                row.getBigDecimal("amount"),
                row.getString("currency"),
                row.getString("status"),
                row.getTimestamp("created_at").toInstant());
    }
}
