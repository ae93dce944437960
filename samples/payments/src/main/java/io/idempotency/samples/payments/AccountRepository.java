package io.idempotency.samples.payments;

import java.math.BigDecimal;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** Accounts. Every account starts with 1000; its row is written by the first payment. */
@Repository
public class AccountRepository {

    private static final BigDecimal OPENING_BALANCE = new BigDecimal("1000.00");

    private final JdbcClient jdbc;

    public AccountRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public Account find(String name) {
        BigDecimal balance = jdbc.sql("select balance from account where name = :name")
                .param("name", name)
                .query(BigDecimal.class)
                .optional()
                .orElse(OPENING_BALANCE);
        return new Account(name, balance);
    }

    /** Takes the amount from the account, unless the balance is too low. */
    public boolean withdraw(String name, BigDecimal amount) {
        jdbc.sql("insert into account (name, balance) values (:name, :balance) on conflict do nothing")
                .param("name", name)
                .param("balance", OPENING_BALANCE)
                .update();
        return jdbc.sql("update account set balance = balance - :amount where name = :name and balance >= :amount")
                        .param("name", name)
                        .param("amount", amount)
                        .update()
                == 1;
    }
}
