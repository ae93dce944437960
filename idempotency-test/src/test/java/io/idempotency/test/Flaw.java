package io.idempotency.test;

import java.util.Set;

/** Mistakes that stores were seen to make, and the facts that each of them breaks. */
enum Flaw {
    COMPLETE_IGNORES_THE_OWNER(
            Fuzz.FINDS_IT,
            "abandonedRecordStaysUnlessItsOwnerIsNamed",
            "completionOfAnotherOwnerIsLost",
            "completionOfAnotherOwnersResultIsLost",
            "exactlyOneOfManyConcurrentCompletionsIsApplied",
            "expiredKeyIsClaimedAnewWithTheFirstToken",
            "forgottenOwnerHasLostItsLease",
            "secondCompletionOfTheOwnerIsAppliedAndChangesNothing",
            "unreadableResultIsRefusedAndNeverFree",
            "zombieCompletionIsLostAndInvisible"),
    COMPLETE_OVERWRITES_A_RESULT(Fuzz.FINDS_IT, "secondCompletionOfTheOwnerIsAppliedAndChangesNothing"),
    COMPLETE_REVIVES_WHAT_HAS_EXPIRED(Fuzz.CANNOT_TELL, "abandonedRecordVanishesAfterLeaseAndRetention"),
    COMPLETE_NEEDS_A_LIVE_LEASE(
            Fuzz.CANNOT_TELL,
            "completionAfterTheLeaseIsAppliedAsLongAsNobodyTookOver",
            "takeoverThatMeetsAResultGetsIt"),
    COMPLETE_SENT_TWICE_IS_LOST(Fuzz.CANNOT_TELL, "secondCompletionOfTheOwnerIsAppliedAndChangesNothing"),
    RELEASE_IGNORES_THE_OWNER(
            Fuzz.FINDS_IT,
            "forgottenOwnerHasLostItsLease",
            "releaseOfAnotherOwnerChangesNothing",
            "zombieReleaseIsLostAndFreesNothing"),
    RELEASE_REMOVES_A_RESULT(Fuzz.FINDS_IT, "releaseOfAResultChangesNothing"),
    RENEW_IGNORES_THE_OWNER(
            Fuzz.CANNOT_TELL,
            "forgottenOwnerHasLostItsLease",
            "renewalOfAnotherOwnerChangesNothing",
            "zombieRenewalIsLostAndExtendsNothing"),
    RENEW_TOUCHES_A_RESULT(Fuzz.CANNOT_TELL, "renewalOfAResultChangesNothing"),
    RENEW_FORGETS_THE_RETENTION(Fuzz.CANNOT_TELL, "removesOnlyWhatHasExpired", "renewalStartsTheLeaseFromNow"),
    CLAIM_CHECKS_AND_THEN_ACTS(Fuzz.FINDS_IT, "exactlyOneOfManyConcurrentClaimsWins"),
    CLAIM_KEEPS_THE_FIRST_FINGERPRINT(Fuzz.CANNOT_TELL, "takeoverGetsTheNextTokenAndTheLeaseOfItsRequest"),
    CLAIM_DOES_NOT_KNOW_ITS_OWNER(Fuzz.CANNOT_TELL, "ownClaimGoesToDone", "ownClaimSentTwiceIsClaimedOnce"),
    CLAIM_OF_AN_EXPIRED_KEY_KEEPS_THE_OLD_RESULT(
            Fuzz.CANNOT_TELL, "expiredKeyGoesStraightToDone", "secondLifeOfAKeyLeavesNothingOfTheFirst"),
    TAKEOVER_WITHOUT_COMPARISON(Fuzz.FINDS_IT, "claimThatNamesAnotherOwnerTakesOverNothing"),
    TAKEOVER_OF_A_LIVE_LEASE(
            Fuzz.CANNOT_TELL,
            "claimThatNamesTheOwnerOfALiveLeaseTakesOverNothing",
            "takeoverAfterARenewalTakesOverNothing"),
    TAKEOVER_OVERWRITES_A_RESULT(Fuzz.FINDS_IT, "takeoverThatMeetsAResultGetsIt"),
    TAKEOVER_KEEPS_THE_TOKEN(
            Fuzz.FINDS_IT,
            "exactlyOneOfManyConcurrentTakeoversWins",
            "findShowsAResult",
            "takeoverGetsTheNextTokenAndTheLeaseOfItsRequest",
            "tokenGrowsOverTakeovers"),
    KEY_LIVES_AS_LONG_AS_ITS_LEASE(
            Fuzz.FINDS_IT,
            "abandonedRecordIsReportedWithOwnerFingerprintAndGuarantee",
            "abandonedRecordStaysForItsRetentionAfterTheLease",
            "abandonedRecordStaysUnlessItsOwnerIsNamed",
            "claimThatNamesAnotherOwnerTakesOverNothing",
            "completionAfterTheLeaseIsAppliedAsLongAsNobodyTookOver",
            "creationIsTheFirstClaim",
            "exactlyOneOfManyConcurrentTakeoversWins",
            "findShowsAClaim",
            "findShowsAResult",
            "findShowsAnAbandonedRecord",
            "forgottenKeyIsFreshInEveryState",
            "releaseAfterTheLeaseIsAppliedAsLongAsNobodyTookOver",
            "removesOnlyWhatHasExpired",
            "renewalAfterTheLeaseHoldsTheKeyAgainAsLongAsNobodyTookOver",
            "renewalStartsTheLeaseFromNow",
            "takeoverAfterARenewalTakesOverNothing",
            "takeoverGetsTheNextTokenAndTheLeaseOfItsRequest",
            "takeoverThatMeetsAResultGetsIt",
            "tokenGrowsOverTakeovers"),
    RETENTION_COUNTS_FROM_THE_CLAIM(Fuzz.CANNOT_TELL, "retentionCountsFromCompletion"),
    EXPIRED_IS_THERE_UNTIL_PURGED(
            Fuzz.CANNOT_TELL,
            "exactlyOneOfManyConcurrentClaimsOfAnExpiredKeyWins",
            "expiredKeyGoesStraightToDone",
            "expiredKeyIsClaimedAnewWithTheFirstToken",
            "expiredResultCountsAsAbsentWithoutAPurge",
            "retentionShorterThanTheLeaseEndsTheRecordAllTheSame",
            "secondLifeOfAKeyLeavesNothingOfTheFirst"),
    IDS_IGNORE_CASE(Fuzz.CANNOT_TELL, "everyByteOfTheIdCounts"),
    IDS_ARE_TRIMMED(Fuzz.CANNOT_TELL, "everyByteOfTheIdCounts"),
    IDS_ARE_TRUNCATED(Fuzz.CANNOT_TELL, "everyByteOfTheIdCounts"),
    LEASES_ARE_WHOLE_SECONDS(
            Fuzz.CANNOT_TELL,
            "abandonedRecordIsReportedWithOwnerFingerprintAndGuarantee",
            "abandonedRecordStaysForItsRetentionAfterTheLease",
            "abandonedRecordStaysUnlessItsOwnerIsNamed",
            "abandonedRecordVanishesAfterLeaseAndRetention",
            "claimThatNamesAnotherOwnerTakesOverNothing",
            "creationIsTheFirstClaim",
            "exactlyOneOfManyConcurrentTakeoversWins",
            "findShowsAResult",
            "findShowsAnAbandonedRecord",
            "leaseOfAFractionOfASecondIsExact",
            "removesExpiredRecordsInEveryState",
            "removesOnlyWhatHasExpired",
            "renewalOfAnotherOwnerChangesNothing",
            "takeoverGetsTheNextTokenAndTheLeaseOfItsRequest",
            "tokenGrowsOverTakeovers",
            "zombieCompletionIsLostAndInvisible",
            "zombieReleaseIsLostAndFreesNothing",
            "zombieRenewalIsLostAndExtendsNothing"),
    RESULT_IS_TRUNCATED(Fuzz.CANNOT_TELL, "payloadOfAnySizeSurvives"),
    RECORD_DONE_OVERWRITES(
            Fuzz.FINDS_IT,
            "abandonedRecordStaysUnlessItsOwnerIsNamed",
            "exactlyOneOfManyConcurrentOnesIsRecorded",
            "liveClaimOfAnotherStays",
            "resultOfAnotherStays",
            "sentTwiceItIsStillOurs",
            "unreadableResultIsRefusedAndNeverFree"),
    UNREADABLE_IS_ABSENT(
            Fuzz.CANNOT_TELL,
            "unreadableResultCanBeForgotten",
            "unreadableResultIsFoundWithAReason",
            "unreadableResultIsRefusedAndNeverFree"),
    OUTAGE_IS_ABSENCE(Fuzz.CANNOT_TELL, "everythingIsUnavailableAndNothingIsInferred"),
    PURGE_REMOVES_LEASED_RECORDS(
            Fuzz.CANNOT_TELL, "leasedRecordDoesNotExpireWhileItsLeaseLives", "removesOnlyWhatHasExpired"),
    PURGE_IGNORES_THE_BATCH(Fuzz.CANNOT_TELL, "removesAtMostTheBatch");

    /** Facts about threads that meet: a flaw may break them or not, as the threads happen to meet. */
    static final Set<String> RACES = Set.of(
            "exactlyOneOfManyConcurrentClaimsWins",
            "exactlyOneOfManyConcurrentClaimsOfAnExpiredKeyWins",
            "exactlyOneOfManyConcurrentCompletionsIsApplied",
            "exactlyOneOfManyConcurrentTakeoversWins",
            "exactlyOneOfManyConcurrentOnesIsRecorded",
            "takeoverAndLateCompletionNeverBothSucceed",
            "severalAtOnceRemoveEachRecordOnce",
            "claimsBesideAPurgeAreAnsweredByTheRules");

    final Fuzz fuzz;
    final Set<String> brokenFacts;

    Flaw(Fuzz fuzz, String... brokenFacts) {
        this.fuzz = fuzz;
        this.brokenFacts = Set.of(brokenFacts);
    }

    /** Whether random attempts show it. */
    enum Fuzz {
        FINDS_IT,
        CANNOT_TELL
    }
}
