package io.idempotency.it.listeners;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

/** What was really done: one row per effect, and no constraint that would hide a second one. */
public final class Ledger {

    private final JdbcTemplate jdbc;

    public Ledger(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    public void write(String destination, String entry) {
        jdbc.update("insert into ledger (destination, entry) values (?, ?)", destination, entry);
    }

    public List<String> of(String destination) {
        return jdbc.queryForList(
                "select entry from ledger where destination = ? order by id", String.class, destination);
    }

    public int count(String destination) {
        return jdbc.queryForObject("select count(*) from ledger where destination = ?", Integer.class, destination);
    }

    public int distinct(String destination) {
        return jdbc.queryForObject(
                "select count(distinct entry) from ledger where destination = ?", Integer.class, destination);
    }
}
