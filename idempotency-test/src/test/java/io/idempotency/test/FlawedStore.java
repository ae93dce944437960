package io.idempotency.test;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A plain store with one chosen mistake, or with none. */
final class FlawedStore implements PurgeableStore, StoreFixture {

    private static final int TRUNCATED = 65_535;

    private final @Nullable Flaw flaw;
    private final MutableClock clock = new MutableClock();
    private final Map<String, Row> rows = new HashMap<>();
    private boolean cut;

    FlawedStore(@Nullable Flaw flaw) {
        this.flaw = flaw;
    }

    @Override
    public FlawedStore store() {
        return this;
    }

    @Override
    public void advance(Duration time) {
        clock.advance(time);
    }

    @Override
    public synchronized boolean breakResult(RecordId id) {
        rows.get(keyOf(id)).result[5] ^= 1;
        return true;
    }

    @Override
    public synchronized boolean cut() {
        cut = true;
        return true;
    }

    @Override
    public synchronized void restore() {
        cut = false;
    }

    @Override
    public void close() {}

    @Override
    public String name() {
        return "flawed";
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        if (flaw == Flaw.CLAIM_CHECKS_AND_THEN_ACTS) {
            if (find(request.id()).isEmpty()) {
                LockSupport.parkNanos(100_000);
                synchronized (this) {
                    rows.remove(keyOf(request.id()));
                    return claim(request);
                }
            }
        }
        synchronized (this) {
            return claim(request);
        }
    }

    private ClaimResult claim(ClaimRequest request) {
        Row row = live(request.id());
        if (row == null) {
            Row old = rows.get(keyOf(request.id()));
            row = new Row();
            row.createdAt = clock.instant();
            row.take(request, 1);
            if (flaw == Flaw.CLAIM_OF_AN_EXPIRED_KEY_KEEPS_THE_OLD_RESULT && old != null) {
                row.result = old.result;
            }
            rows.put(keyOf(request.id()), row);
            return new ClaimResult.Claimed(new Lease(request, 1), false);
        }
        if (!row.done && row.owner.equals(request.owner()) && flaw != Flaw.CLAIM_DOES_NOT_KNOW_ITS_OWNER) {
            return new ClaimResult.Claimed(new Lease(request, row.token), false);
        }
        if (!mayTakeOver(row, request)) {
            return toRecord(request.id(), row).asClaimResult();
        }
        Fingerprint first = row.fingerprint;
        row.take(request, flaw == Flaw.TAKEOVER_KEEPS_THE_TOKEN ? row.token : row.token + 1);
        if (flaw == Flaw.CLAIM_KEEPS_THE_FIRST_FINGERPRINT) {
            row.fingerprint = first;
        }
        return new ClaimResult.Claimed(new Lease(request, row.token), true);
    }

    private boolean mayTakeOver(Row row, ClaimRequest request) {
        if (request.takeOverFrom() == null) {
            return false;
        }
        boolean seen = row.owner.equals(request.takeOverFrom()) || flaw == Flaw.TAKEOVER_WITHOUT_COMPARISON;
        boolean over = row.leaseEnd <= now() || flaw == Flaw.TAKEOVER_OF_A_LIVE_LEASE;
        return seen && over && (!row.done || flaw == Flaw.TAKEOVER_OVERWRITES_A_RESULT);
    }

    @Override
    public synchronized WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        Row row = live(lease.id());
        if (row == null && flaw == Flaw.COMPLETE_REVIVES_WHAT_HAS_EXPIRED) {
            row = rows.get(keyOf(lease.id()));
        }
        if (row == null || (!row.owner.equals(lease.owner()) && flaw != Flaw.COMPLETE_IGNORES_THE_OWNER)) {
            return WriteOutcome.LOST;
        }
        if (flaw == Flaw.COMPLETE_NEEDS_A_LIVE_LEASE && !row.done && row.leaseEnd <= now()) {
            return WriteOutcome.LOST;
        }
        if (row.done && flaw == Flaw.COMPLETE_SENT_TWICE_IS_LOST) {
            return WriteOutcome.LOST;
        }
        boolean mayWrite = !row.done
                || flaw == Flaw.COMPLETE_OVERWRITES_A_RESULT
                || flaw == Flaw.COMPLETE_IGNORES_THE_OWNER
                || flaw == Flaw.COMPLETE_REVIVES_WHAT_HAS_EXPIRED && row.expiresAt <= now();
        if (mayWrite && !(flaw == Flaw.CLAIM_OF_AN_EXPIRED_KEY_KEEPS_THE_OLD_RESULT && row.result != null)) {
            row.result = result.toBytes();
            if (flaw == Flaw.RESULT_IS_TRUNCATED && row.result.length > TRUNCATED) {
                row.result = Arrays.copyOf(row.result, TRUNCATED);
            }
        }
        if (mayWrite) {
            row.done = true;
            row.completedAt = clock.instant();
            long from = flaw == Flaw.RETENTION_COUNTS_FROM_THE_CLAIM ? row.claimedAt : now();
            row.expiresAt = from + nanos(retention);
        }
        return WriteOutcome.APPLIED;
    }

    @Override
    public synchronized ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        if (flaw == Flaw.RECORD_DONE_OVERWRITES) {
            refuseWhileCut();
            rows.remove(keyOf(request.id()));
        }
        ClaimResult answer = claim(request);
        if (answer instanceof ClaimResult.Claimed claimed) {
            complete(claimed.lease(), result, request.retention());
        }
        return answer;
    }

    @Override
    public synchronized WriteOutcome release(Lease lease) {
        Row row = live(lease.id());
        if (row == null
                || (row.done && flaw != Flaw.RELEASE_REMOVES_A_RESULT)
                || (!row.owner.equals(lease.owner()) && flaw != Flaw.RELEASE_IGNORES_THE_OWNER)) {
            return WriteOutcome.LOST;
        }
        rows.remove(keyOf(lease.id()));
        return WriteOutcome.APPLIED;
    }

    @Override
    public synchronized WriteOutcome renew(Lease lease) {
        Row row = live(lease.id());
        if (row == null
                || (row.done && flaw != Flaw.RENEW_TOUCHES_A_RESULT)
                || (!row.owner.equals(lease.owner()) && flaw != Flaw.RENEW_IGNORES_THE_OWNER)) {
            return WriteOutcome.LOST;
        }
        long expiresAt = row.expiresAt;
        row.startLease(lease.request());
        if (flaw == Flaw.RENEW_FORGETS_THE_RETENTION) {
            row.expiresAt = expiresAt;
        }
        return WriteOutcome.APPLIED;
    }

    @Override
    public synchronized Optional<IdempotencyRecord> find(RecordId id) {
        return Optional.ofNullable(live(id)).map(row -> toRecord(id, row));
    }

    @Override
    public synchronized boolean forget(RecordId id) {
        boolean there = live(id) != null;
        rows.remove(keyOf(id));
        return there;
    }

    @Override
    public synchronized int purgeExpired(int batchSize) {
        int removed = 0;
        Iterator<Row> all = rows.values().iterator();
        while (all.hasNext() && (removed < batchSize || flaw == Flaw.PURGE_IGNORES_THE_BATCH)) {
            Row row = all.next();
            long over = flaw == Flaw.PURGE_REMOVES_LEASED_RECORDS && !row.done
                    ? row.claimedAt + nanos(row.retention)
                    : row.expiresAt;
            if (over <= now()) {
                all.remove();
                removed++;
            }
        }
        return removed;
    }

    private void refuseWhileCut() {
        if (cut) {
            throw new StoreUnavailableException("The server does not answer", null);
        }
    }

    private Row live(RecordId id) {
        if (cut && flaw == Flaw.OUTAGE_IS_ABSENCE) {
            return null;
        }
        refuseWhileCut();
        Row row = rows.get(keyOf(id));
        if (row == null || (row.expiresAt <= now() && !(row.done && flaw == Flaw.EXPIRED_IS_THERE_UNTIL_PURGED))) {
            return null;
        }
        return flaw == Flaw.UNREADABLE_IS_ABSENT && toRecord(id, row).unreadable() != null ? null : row;
    }

    private long now() {
        return clock.nanoTime();
    }

    private static long nanos(Duration duration) {
        return duration.toNanos();
    }

    private String keyOf(RecordId id) {
        String key = new String(id.bytes(), StandardCharsets.ISO_8859_1);
        if (flaw == Flaw.IDS_IGNORE_CASE) {
            return key.toLowerCase(Locale.ROOT);
        }
        if (flaw == Flaw.IDS_ARE_TRIMMED) {
            return key.stripTrailing();
        }
        return flaw == Flaw.IDS_ARE_TRUNCATED ? key.substring(0, RecordId.LENGTH - 1) : key;
    }

    private IdempotencyRecord toRecord(RecordId id, Row row) {
        StoredResult result = null;
        String unreadable = null;
        if (row.done) {
            try {
                result = StoredResult.fromBytes(row.result);
            } catch (IllegalArgumentException e) {
                unreadable = e.getMessage();
            }
        }
        return new IdempotencyRecord(
                id,
                row.operation,
                row.guarantee,
                row.done,
                row.fingerprint,
                row.owner,
                row.token,
                row.createdAt,
                row.completedAt,
                row.done ? null : Duration.ofNanos(row.leaseEnd - now()),
                Duration.ofNanos(row.expiresAt - now()),
                result,
                unreadable);
    }

    private final class Row {

        private String operation;
        private Guarantee guarantee;
        private Owner owner;
        private Fingerprint fingerprint;
        private long token;
        private boolean done;
        private byte[] result;
        private Duration retention;
        private Instant createdAt;
        private Instant completedAt;
        private long claimedAt;
        private long leaseEnd;
        private long expiresAt;

        void take(ClaimRequest request, long newToken) {
            operation = request.operation();
            guarantee = request.guarantee();
            owner = request.owner();
            fingerprint = request.fingerprint();
            token = newToken;
            done = false;
            completedAt = null;
            claimedAt = now();
            retention = request.retention();
            startLease(request);
        }

        void startLease(ClaimRequest request) {
            Duration lease = request.lease();
            if (flaw == Flaw.LEASES_ARE_WHOLE_SECONDS) {
                lease = Duration.ofSeconds(lease.plusMillis(999).toSeconds());
            }
            leaseEnd = now() + nanos(lease);
            expiresAt = leaseEnd + (flaw == Flaw.KEY_LIVES_AS_LONG_AS_ITS_LEASE ? 0 : nanos(request.retention()));
        }
    }
}
