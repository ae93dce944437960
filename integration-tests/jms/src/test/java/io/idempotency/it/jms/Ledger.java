package io.idempotency.it.jms;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** What was really done: one row per effect, and no constraint that would hide a second one. */
@Component
class Ledger {

    private final JdbcTemplate jdbc;

    Ledger(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    void write(String queue, String entry) {
        jdbc.update("insert into ledger (queue, entry) values (?, ?)", queue, entry);
    }

    List<String> of(String queue) {
        return jdbc.queryForList("select entry from ledger where queue = ? order by id", String.class, queue);
    }

    int count(String queue) {
        return jdbc.queryForObject("select count(*) from ledger where queue = ?", Integer.class, queue);
    }

    int distinct(String queue) {
        return jdbc.queryForObject("select count(distinct entry) from ledger where queue = ?", Integer.class, queue);
    }
}
