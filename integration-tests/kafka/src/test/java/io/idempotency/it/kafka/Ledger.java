package io.idempotency.it.kafka;

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

    void write(String topic, String entry) {
        jdbc.update("insert into ledger (topic, entry) values (?, ?)", topic, entry);
    }

    List<String> of(String topic) {
        return jdbc.queryForList("select entry from ledger where topic = ? order by id", String.class, topic);
    }

    int count(String topic) {
        return jdbc.queryForObject("select count(*) from ledger where topic = ?", Integer.class, topic);
    }

    int distinct(String topic) {
        return jdbc.queryForObject("select count(distinct entry) from ledger where topic = ?", Integer.class, topic);
    }
}
