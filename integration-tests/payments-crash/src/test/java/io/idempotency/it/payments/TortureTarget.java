package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import java.util.EnumSet;
import java.util.Set;

/** What records and payments are kept in while the sample is tortured. */
enum TortureTarget {
    /** A file, which belongs to one process. */
    H2(1, false, Set.of()) {
        @Override
        TortureServers start() {
            return TortureServers.h2();
        }
    },

    POSTGRESQL(2, false, Set.of()) {
        @Override
        TortureServers start() {
            return TortureServers.postgres();
        }
    },

    MARIADB(2, false, Set.of()) {
        @Override
        TortureServers start() {
            return TortureServers.mariaDb();
        }
    },

    /** Records in a Redis that remembers what it has acknowledged, payments in PostgreSQL. */
    REDIS(2, false, Set.of(Guarantee.EXACTLY_ONCE)) {
        @Override
        TortureServers start() {
            return TortureServers.postgresAndRedis("redis", false);
        }
    },

    /** The same with a Redis that is flushed and evicts. */
    FORGETFUL_REDIS(2, true, Set.of(Guarantee.EXACTLY_ONCE)) {
        @Override
        TortureServers start() {
            return TortureServers.postgresAndRedis("redis", true);
        }
    },

    /** Records and payments in PostgreSQL, copies of results in a Redis that is flushed and evicts. */
    TIERED(2, false, Set.of()) {
        @Override
        TortureServers start() {
            return TortureServers.postgresAndRedis("tiered", true);
        }
    };

    private final int processes;
    private final boolean forgetsRecords;
    private final Set<Guarantee> impossible;

    TortureTarget(int processes, boolean forgetsRecords, Set<Guarantee> impossible) {
        this.processes = processes;
        this.forgetsRecords = forgetsRecords;
        this.impossible = impossible;
    }

    abstract TortureServers start();

    /** How many processes of the service there are. */
    int processes() {
        return processes;
    }

    /** Whether what its servers forget are records, each of which may cost one more effect. */
    boolean forgetsRecords() {
        return forgetsRecords;
    }

    Set<Guarantee> guarantees() {
        Set<Guarantee> possible = EnumSet.complementOf(EnumSet.of(Guarantee.AUTO));
        possible.removeAll(impossible);
        return possible;
    }
}
