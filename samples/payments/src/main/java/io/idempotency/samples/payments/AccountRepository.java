package io.idempotency.samples.payments;

import java.math.BigDecimal;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** Accounts. Every account starts with 1000; its row is written by the first payment. */
@Repository
public class AccountRepository {

    private static final BigDecimal OPENING_BALANCE = new BigDecimal("1000.00");

    private final JdbcClient jdbc;
    private final String openAccount;

    // Each database has its own words for it.
    public AccountRepository(
            JdbcClient jdbc,
            @Value("${payments.open-account:"
                            + "insert into account (name, balance) values (:name, :balance) on conflict do nothing}")
                    String openAccount) {
        this.jdbc = jdbc;
        this.openAccount = openAccount;
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
        jdbc.sql(openAccount)
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
