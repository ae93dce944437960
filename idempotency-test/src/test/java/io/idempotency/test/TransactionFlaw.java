package io.idempotency.test;

import io.idempotency.test.Flaw.Fuzz;
import java.util.Set;

/** Mistakes that stores were seen to make in transactions, and the facts that each of them breaks. */
enum TransactionFlaw {
    RESULT_IS_WRITTEN_AT_ONCE(
            Fuzz.FINDS_IT,
            "abandonedRecordIsThereAgainAfterAKnownResultIsRolledBack",
            "anotherResultTakesThePlaceOfAKnownOne",
            "concurrentClaimIsRefusedAtOnce",
            "expiredResultStaysExpiredAfterARollback",
            "keyIsFreeAfterARollbackThatNobodyTidiedUp",
            "keyIsFreeForALeaseAfterARollback",
            "knownResultIsGoneAfterARollback",
            "knownResultIsVisibleWithTheCommitAndNotBefore",
            "leasedClaimThatMeetsATransactionIsRefusedAtOnce",
            "nextOneRunsAfterARollback",
            "nothingElseWaitsForTheTransaction",
            "recordDoneThatMeetsATransactionIsRefusedAtOnce",
            "refusedTransactionMayClaimAgainAfterTheFirstIsRolledBack",
            "resultCanBeRecordedAfterARollback",
            "resultIsVisibleWithTheCommitAndNotBefore",
            "resultOfAnotherIsNotOurs",
            "rollbackIsFound",
            "rollbackLeavesNoResultAndTheKeyFree",
            "staysUsableAfterLosingAnExpiredKey",
            "staysUsableAfterMeetingATransaction",
            "takeoverThatIsRolledBackLeavesTheAbandonedRecord",
            "takeoverThatWasRolledBackIsFound",
            "tidyingUpTouchesNothingOfOthers"),
    CLAIM_HOLDS_NOTHING(
            Fuzz.FINDS_IT,
            "abandonedRecordIsTakenOverByAKnownResult",
            "applicationIsRefusedByALibraryTransactionAndTheOtherWayRound",
            "concurrentClaimIsRefusedAtOnce",
            "knownResultIsVisibleWithTheCommitAndNotBefore",
            "leasedClaimThatMeetsATransactionIsRefusedAtOnce",
            "nextOneRunsAfterARollback",
            "nothingElseWaitsForTheTransaction",
            "openTransactionIsUnknownAfterABoundedTime",
            "purgeNeverRemovesWhatATransactionHolds",
            "recordDoneThatMeetsATransactionIsRefusedAtOnce",
            "refusedTransactionMayClaimAgainAfterTheFirstIsRolledBack",
            "refusedTransactionSeesTheWinnerAfterItsCommit",
            "staysUsableAfterLosingAnExpiredKey",
            "staysUsableAfterMeetingATransaction",
            "twoTransactionsThatClaimTwoKeysInOppositeOrderNeitherWaitNorFail",
            "zombieNeitherWaitsForATakeoverNorSucceeds"),
    CLAIM_WAITS(
            Fuzz.CANNOT_TELL,
            "applicationIsRefusedByALibraryTransactionAndTheOtherWayRound",
            "concurrentClaimIsRefusedAtOnce",
            "knownResultIsVisibleWithTheCommitAndNotBefore",
            "nextOneRunsAfterARollback",
            "nothingElseWaitsForTheTransaction",
            "purgeNeverRemovesWhatATransactionHolds",
            "refusedTransactionMayClaimAgainAfterTheFirstIsRolledBack",
            "refusedTransactionSeesTheWinnerAfterItsCommit",
            "staysUsableAfterLosingAnExpiredKey",
            "staysUsableAfterMeetingATransaction",
            "twoTransactionsThatClaimTwoKeysInOppositeOrderNeitherWaitNorFail"),
    CLAIM_NEEDS_NO_TRANSACTION(Fuzz.CANNOT_TELL, "claimIsRefused"),
    REFUSAL_MARKS_FOR_ROLLBACK(
            Fuzz.FINDS_IT,
            "abandonedRecordIsTakenOverInTheTransaction",
            "applicationIsRefusedByALibraryTransactionAndTheOtherWayRound",
            "refusedTransactionMayClaimAgainAfterTheFirstIsRolledBack",
            "refusedTransactionSeesTheWinnerAfterItsCommit",
            "staysUsableAfterLosingAnExpiredKey",
            "staysUsableAfterMeetingALiveLease",
            "staysUsableAfterMeetingAResult",
            "staysUsableAfterMeetingATransaction",
            "staysUsableAfterMeetingAnAbandonedRecord",
            "takeoverIsNamedInTheTransactionThatSawTheRecord",
            "twoTransactionsThatClaimTwoKeysInOppositeOrderNeitherWaitNorFail"),
    EXPIRED_RESULT_BLOCKS_UNTIL_PURGED(
            Fuzz.CANNOT_TELL,
            "expiredResultIsReplaced",
            "expiredResultStaysExpiredAfterARollback",
            "knownResultReplacesAnExpiredOne",
            "staysUsableAfterLosingAnExpiredKey",
            "winnerThatCommittedAfterTheTransactionBeganIsSeen"),
    COMPLETION_DOES_NOT_LOOK(
            Fuzz.CANNOT_TELL, "completionIsLostToAResultThatAppeared", "leaseIsNotCompletedInATransaction"),
    ROLLBACK_KEEPS_THE_KEY(
            Fuzz.FINDS_IT,
            "keyIsFreeAfterARollbackThatNobodyTidiedUp",
            "keyIsFreeForALeaseAfterARollback",
            "knownResultIsGoneAfterARollback",
            "refusedTransactionMayClaimAgainAfterTheFirstIsRolledBack",
            "resultCanBeRecordedAfterARollback",
            "resultOfAnotherIsNotOurs",
            "rollbackIsFound",
            "rollbackLeavesNoResultAndTheKeyFree",
            "takeoverThatIsRolledBackLeavesTheAbandonedRecord",
            "takeoverThatWasRolledBackIsFound",
            "tidyingUpTouchesNothingOfOthers"),
    TAKEOVER_WITHOUT_A_NAME(
            Fuzz.CANNOT_TELL,
            "abandonedRecordIsReportedAndStays",
            "abandonedRecordIsTakenOverByAKnownResult",
            "abandonedRecordIsTakenOverInTheTransaction",
            "staysUsableAfterMeetingAnAbandonedRecord",
            "takeoverIsNamedInTheTransactionThatSawTheRecord",
            "takeoverThatNamesAnotherOwnerIsRefused"),
    ZOMBIE_COMPLETES_DURING_A_TAKEOVER(
            Fuzz.CANNOT_TELL, "abandonedRecordIsTakenOverByAKnownResult", "zombieNeitherWaitsForATakeoverNorSucceeds"),
    LEASED_CLAIM_SEES_NO_TRANSACTION(
            Fuzz.CANNOT_TELL,
            "knownResultIsVisibleWithTheCommitAndNotBefore",
            "leasedClaimThatMeetsATransactionIsRefusedAtOnce",
            "nothingElseWaitsForTheTransaction"),
    RECORD_DONE_SEES_NO_TRANSACTION(
            Fuzz.CANNOT_TELL, "nothingElseWaitsForTheTransaction", "recordDoneThatMeetsATransactionIsRefusedAtOnce"),
    FORGET_WAITS(Fuzz.CANNOT_TELL, "nothingElseWaitsForTheTransaction", "operatorsDoNotWaitForATransaction"),
    PURGE_FORGETS_WHO_HOLDS(Fuzz.CANNOT_TELL, "purgeNeverRemovesWhatATransactionHolds"),
    KNOWN_RESULT_IS_FORGOTTEN(
            Fuzz.FINDS_IT,
            "abandonedRecordIsTakenOverByAKnownResult",
            "knownResultCarriesWhatItsClaimSaid",
            "knownResultIsFoundAfterACommitInDoubt",
            "knownResultIsVisibleWithTheCommitAndNotBefore",
            "knownResultReplacesAnExpiredOne"),
    KNOWN_RESULT_IS_FINAL(Fuzz.CANNOT_TELL, "anotherResultTakesThePlaceOfAKnownOne"),
    PROBE_GUESSES(
            Fuzz.CANNOT_TELL,
            "openTransactionIsUnknownAfterABoundedTime",
            "resultOfAnotherIsNotOurs",
            "takeoverThatWasRolledBackIsFound");

    /** Facts about threads that meet: a flaw may break them or not, as the threads happen to meet. */
    static final Set<String> RACES =
            Set.of("exactlyOneOfManyConcurrentTransactionsHasAnEffect", "exactlyOneOfManyKnownResultsIsCommitted");

    final Fuzz fuzz;
    final Set<String> brokenFacts;

    TransactionFlaw(Fuzz fuzz, String... brokenFacts) {
        this.fuzz = fuzz;
        this.brokenFacts = Set.of(brokenFacts);
    }
}
