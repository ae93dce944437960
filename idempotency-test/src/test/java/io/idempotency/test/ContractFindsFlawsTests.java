package io.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/**
 * A contract is worth what it finds: every flaw breaks the facts that it must break, and no other one. They wait more than they compute,
 * so that flaws are tried side by side; a contract runs on the thread that has chosen its flaw.
 */
@Execution(ExecutionMode.CONCURRENT)
class ContractFindsFlawsTests {

    private static final ThreadLocal<@Nullable Flaw> flaw = new ThreadLocal<>();

    private static final ThreadLocal<@Nullable TransactionFlaw> transactionFlaw = new ThreadLocal<>();

    @AfterEach
    void forgetTheFlaw() {
        flaw.remove();
        transactionFlaw.remove();
    }

    @Test
    void storeWithoutFlawBreaksNoFact() {
        for (Class<?> contract : Set.of(
                OnFlawedStore.class,
                FuzzOnFlawedStore.class,
                OnFlawedTransactions.class,
                FuzzOnFlawedTransactions.class)) {
            Events events = run(contract);
            assertThat(events.succeeded().count()).isPositive();
            assertThat(brokenFacts(events)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void flawBreaksItsFacts(Flaw chosen) {
        flaw.set(chosen);

        Set<String> broken = brokenFacts(run(OnFlawedStore.class));

        assertThat(broken).containsAll(chosen.brokenFacts);
        assertThat(broken).allMatch(fact -> chosen.brokenFacts.contains(fact) || Flaw.RACES.contains(fact));
    }

    @ParameterizedTest
    @MethodSource
    void fuzzFindsTheFlaw(Flaw chosen) {
        flaw.set(chosen);

        assertThat(brokenFacts(run(FuzzOnFlawedStore.class))).isNotEmpty();
    }

    static Stream<Flaw> fuzzFindsTheFlaw() {
        return Stream.of(Flaw.values()).filter(candidate -> candidate.fuzz == Flaw.Fuzz.FINDS_IT);
    }

    @ParameterizedTest
    @EnumSource
    void flawInTransactionsBreaksItsFacts(TransactionFlaw chosen) {
        transactionFlaw.set(chosen);

        Set<String> broken = brokenFacts(run(OnFlawedTransactions.class));

        assertThat(broken).containsAll(chosen.brokenFacts);
        assertThat(broken).allMatch(fact -> chosen.brokenFacts.contains(fact) || TransactionFlaw.RACES.contains(fact));
    }

    @ParameterizedTest
    @MethodSource
    void fuzzFindsTheFlawInTransactions(TransactionFlaw chosen) {
        transactionFlaw.set(chosen);

        assertThat(brokenFacts(run(FuzzOnFlawedTransactions.class))).isNotEmpty();
    }

    static Stream<TransactionFlaw> fuzzFindsTheFlawInTransactions() {
        return Stream.of(TransactionFlaw.values()).filter(candidate -> candidate.fuzz == Flaw.Fuzz.FINDS_IT);
    }

    private static Events run(Class<?> contract) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(contract))
                .execute()
                .testEvents();
    }

    private static Set<String> brokenFacts(Events events) {
        return events.failed().stream()
                .map(event -> event.getTestDescriptor().getSource().orElseThrow())
                .map(source -> ((org.junit.platform.engine.support.descriptor.MethodSource) source).getMethodName())
                .collect(Collectors.toSet());
    }

    static class OnFlawedStore extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return new FlawedStore(flaw.get());
        }
    }

    static class FuzzOnFlawedStore extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return new FlawedStore(flaw.get());
        }
    }

    static class OnFlawedTransactions extends TransactionalStoreContract {

        @Override
        protected TransactionalStoreFixture createFixture() {
            return new InMemoryTransactions(transactionFlaw.get());
        }

        @Override
        protected Duration atOnce() {
            return InMemoryTransactions.LOCK_WAIT.dividedBy(2);
        }
    }

    static class FuzzOnFlawedTransactions extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return new InMemoryTransactions(transactionFlaw.get());
        }
    }
}
