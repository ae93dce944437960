package io.idempotency.jdbc;

import io.idempotency.spi.CommitFailedException.Kind;
import java.sql.SQLException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.UnexpectedRollbackException;

/** What is known about a transaction whose commit has thrown. Everything that is no proof is unknown: it will be looked at. */
final class CommitFailures {

    private CommitFailures() {}

    static Kind kindOf(RuntimeException failure) {
        if (failure instanceof UnexpectedRollbackException) {
            return Kind.ROLLED_BACK;
        }
        SQLException sqlFailure = SqlFailures.in(failure);
        if (sqlFailure != null) {
            if (SqlFailures.isConflict(sqlFailure)) {
                return Kind.CONFLICT;
            }
            return SqlFailures.provesRollback(sqlFailure) ? Kind.ROLLED_BACK : Kind.UNKNOWN;
        }
        // Without an SQLException the persistence provider has found it itself, before it sent anything.
        return failure instanceof OptimisticLockingFailureException
                        || failure instanceof DataIntegrityViolationException
                ? Kind.ROLLED_BACK
                : Kind.UNKNOWN;
    }
}
