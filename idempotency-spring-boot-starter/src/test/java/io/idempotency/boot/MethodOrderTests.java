package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.OperationInProgressException;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.task.TaskDecorator;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Where the door stands among the other annotations of a method. */
class MethodOrderTests {

    private final ApplicationContextRunner leased = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJacksonAutoConfiguration.class))
            .withPropertyValues("idempotency.store=in-memory");

    private final ApplicationContextRunner jdbc = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataSourceAutoConfiguration.class,
                    DataSourceTransactionManagerAutoConfiguration.class,
                    TransactionAutoConfiguration.class,
                    JdbcTemplateAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyJdbcAutoConfiguration.class,
                    IdempotencyJacksonAutoConfiguration.class))
            .withPropertyValues("spring.datasource.generate-unique-name=true", "idempotency.store=jdbc");

    private void inDatabase(Class<?>[] configuration, Consumer<Bookings> test, String... properties) {
        jdbc.withUserConfiguration(configuration)
                .withBean(Bookings.class)
                .withPropertyValues(properties)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(JdbcTemplate.class).execute("create table booking (id varchar(20) primary key)");
                    test.accept(context.getBean(Bookings.class));
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class TransactionsFirst {}

    // Case 72: the transaction is the library's, with the method's attributes, and the method's own joins it.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTransactionIsAroundTheMethodAndItsRecord(boolean transactionsFirst) {
        Class<?>[] configuration = transactionsFirst ? new Class<?>[] {TransactionsFirst.class} : new Class<?>[0];
        inDatabase(configuration, bookings -> {
            assertThat(bookings.book("a")).isEqualTo("booked a");
            assertThat(bookings.book("a")).isEqualTo("booked a");
            assertThat(bookings.count()).isEqualTo(1);

            assertThatThrownBy(() -> bookings.bookAndFail("b")).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> bookings.bookAndFail("b"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("failed 2");
            assertThat(bookings.count()).isEqualTo(1);
        });
    }

    // Case 139: a commit that fails leaves no result.
    @Test
    void aCommitThatFailsLeavesNoResult() {
        inDatabase(new Class<?>[0], bookings -> {
            assertThatThrownBy(() -> bookings.bookWithBrokenCommit("c")).hasMessage("no commit");
            assertThat(bookings.count()).isZero();
            assertThat(bookings.bookWithBrokenCommit("c")).isEqualTo("booked c");
            assertThat(bookings.bookWithBrokenCommit("c")).isEqualTo("booked c");
            assertThat(bookings.count()).isEqualTo(1);
        });
    }

    @Test
    void aReturnFromATransactionThatIsRolledBackIsNoSuccess() {
        inDatabase(new Class<?>[0], bookings -> {
            assertThatThrownBy(() -> bookings.bookAndGiveUp("d"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("marked for rollback");
            assertThat(bookings.count()).isZero();
        });
    }

    @Test
    void aMethodWithoutTransactionalRunsInTheLibrarys() {
        inDatabase(new Class<?>[0], bookings -> assertThat(bookings.plain("e")).isTrue());
    }

    @Configuration(proxyBeanMethods = false)
    static class Retries {

        // @EnableRetry wants AspectJ for its own proxies; Spring Boot's creator takes the same advisor.
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static RetryConfiguration retries() {
            return new RetryConfiguration();
        }
    }

    // Case 72: attempts of one call are inside of its claim.
    @Test
    void springRetryIsInsideOfTheClaim() throws Exception {
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();
        ApplicationContextRunner node = leased.withUserConfiguration(Retries.class)
                .withBean(IdempotencyStore.class, () -> store)
                .withPropertyValues("idempotency.store=auto")
                .withBean(Flaky.class);
        node.run(a -> node.run(b -> {
            Flaky onA = a.getBean(Flaky.class);
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> onA.work("k"));
            assertThat(onA.failedTwice().await(30, TimeUnit.SECONDS)).isTrue();

            assertThatThrownBy(() -> b.getBean(Flaky.class).work("k")).isInstanceOf(OperationInProgressException.class);
            onA.goOn().countDown();

            assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo("attempt 3");
            assertThat(b.getBean(Flaky.class).work("k")).isEqualTo("attempt 3");
        }));
    }

    // Case 72: three attempts, one row, one record, wherever the transaction is.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void springRetryAndATransactionAreBothInsideOfTheClaim(boolean transactionsFirst) {
        ApplicationContextRunner application =
                jdbc.withUserConfiguration(Retries.class).withBean(FlakyBookings.class);
        if (transactionsFirst) {
            application = application.withUserConfiguration(TransactionsFirst.class);
        }
        application.run(context -> {
            JdbcTemplate database = context.getBean(JdbcTemplate.class);
            database.execute("create table booking (id varchar(20) primary key)");
            FlakyBookings bookings = context.getBean(FlakyBookings.class);

            assertThat(bookings.book("a")).isEqualTo("booked by attempt 3");
            assertThat(bookings.book("a")).isEqualTo("booked by attempt 3");

            assertThat(database.queryForObject("select count(*) from booking", Integer.class))
                    .isEqualTo(1);
            String door = "IdempotentMethodAdvisor";
            String transaction = "BeanFactoryTransactionAttributeSourceAdvisor";
            assertThat(((Advised) bookings).getAdvisors())
                    .extracting(advisor -> advisor.getClass().getSimpleName())
                    .containsSubsequence(door, "RetryConfiguration")
                    .containsSubsequence(
                            transactionsFirst ? transaction : door, transactionsFirst ? door : transaction);
        });
    }

    // Case 72: a transaction that a first failure has doomed is no place to try again.
    @Test
    void springRetryIsNoReasonForADoomedTransaction() {
        jdbc.withUserConfiguration(Retries.class).withBean(Flaky.class).run(context -> {
            assertThat(context.getBean(IdempotentMethods.class)
                            .find(Flaky.class.getMethod("work", String.class), Flaky.class)
                            .settings()
                            .guarantee())
                    .isEqualTo(Guarantee.AT_LEAST_ONCE);
        });
        jdbc.withUserConfiguration(Retries.class)
                .withBean(Flaky.class)
                .withPropertyValues("idempotency.operations.flaky-work.guarantee=exactly-once")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains("EXACTLY_ONCE cannot hold for operation flaky-work", "@Retryable"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncCalls {}

    @Test
    void theDoorIsOnTheThreadOfAnAsyncMethod() {
        leased.withUserConfiguration(AsyncCalls.class)
                .withBean(InBackground.class)
                .run(context -> {
                    InBackground background = context.getBean(InBackground.class);
                    String caller = Thread.currentThread().getName();

                    String ranOn = background.work("k").join();

                    assertThat(ranOn).isNotEqualTo(caller);
                    assertThat(background.work("k").join()).isEqualTo(ranOn);
                });
    }

    // As the manual says.
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class CarriedContext {

        @Bean
        TaskDecorator idempotencyContext() {
            return task -> {
                IdempotencyContext context = IdempotencyContext.current().orElse(null);
                return () -> {
                    try (IdempotencyContext.Scope ignored = IdempotencyContext.bind(context)) {
                        task.run();
                    }
                };
            };
        }
    }

    @Test
    void anAsyncMethodThatAnActionCallsHasTheContextThatATaskDecoratorCarries() {
        leased.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withUserConfiguration(CarriedContext.class)
                .withBean(Charges.class)
                .withBean(Orders.class)
                .run(context -> {
                    assertThat(context.getBean(Charges.class).key().join()).isEqualTo("outside");
                    assertThat(context.getBean(Orders.class).sameKeyInBackground("k"))
                            .isTrue();
                    assertThat(context.getBean(Charges.class).key().join()).isEqualTo("outside");
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableMethodSecurity
    static class Secured {}

    @Test
    void whoMayNotCallGetsNoReplay() {
        leased.withUserConfiguration(Secured.class).withBean(Guarded.class).run(context -> {
            Guarded guarded = context.getBean(Guarded.class);
            try {
                SecurityContextHolder.getContext()
                        .setAuthentication(new TestingAuthenticationToken("boss", "", "ROLE_BOSS"));
                assertThat(guarded.work("k")).isEqualTo("1");
                assertThat(guarded.work("k")).isEqualTo("1");
                SecurityContextHolder.getContext()
                        .setAuthentication(new TestingAuthenticationToken("clerk", "", "ROLE_CLERK"));
                assertThatThrownBy(() -> guarded.work("k")).isInstanceOf(AccessDeniedException.class);
            } finally {
                SecurityContextHolder.clearContext();
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caches {

        @Bean
        ConcurrentMapCacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    // The cache is asked only by who has claimed the key: it never answers in place of the record.
    @Test
    void aCacheIsInside() {
        leased.withUserConfiguration(Caches.class).withBean(Cached.class).run(context -> {
            Cached cached = context.getBean(Cached.class);
            assertThat(cached.work("k")).isEqualTo("1");
            context.getBean(ConcurrentMapCacheManager.class).getCache("work").put("k", "from the cache");
            assertThat(cached.work("k")).isEqualTo("1");
        });
    }

    public static class Bookings {

        private final JdbcTemplate jdbc;
        private final AtomicInteger failures = new AtomicInteger();
        private final AtomicInteger commits = new AtomicInteger();

        public Bookings(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        int count() {
            return jdbc.queryForObject("select count(*) from booking", Integer.class);
        }

        private void insert(String id) {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            jdbc.update("insert into booking values (?)", id);
        }

        @Transactional
        @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
        public String book(String id) {
            insert(id);
            return "booked " + id;
        }

        @Transactional
        @Idempotent(key = "#id")
        public String bookAndFail(String id) {
            insert(id);
            throw new IllegalStateException("failed " + failures.incrementAndGet());
        }

        @Transactional
        @Idempotent(key = "#id")
        public String bookWithBrokenCommit(String id) {
            insert(id);
            if (commits.incrementAndGet() == 1) {
                TransactionSynchronizationManager.registerSynchronization(
                        new org.springframework.transaction.support.TransactionSynchronization() {
                            @Override
                            public void beforeCommit(boolean readOnly) {
                                throw new IllegalArgumentException("no commit");
                            }
                        });
            }
            return "booked " + id;
        }

        @Transactional
        @Idempotent(key = "#id")
        public String bookAndGiveUp(String id) {
            insert(id);
            TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
            return "booked " + id;
        }

        @Idempotent(key = "#id", guarantee = Guarantee.EXACTLY_ONCE)
        public boolean plain(String id) {
            insert(id);
            return true;
        }
    }

    public static class Flaky {

        private final AtomicInteger attempts = new AtomicInteger();
        private final CountDownLatch failedTwice = new CountDownLatch(2);
        private final CountDownLatch goOn = new CountDownLatch(1);

        public CountDownLatch failedTwice() {
            return failedTwice;
        }

        public CountDownLatch goOn() {
            return goOn;
        }

        @Idempotent(key = "#key")
        @Retryable(retryFor = IllegalStateException.class, maxAttempts = 3)
        public String work(String key) {
            int attempt = attempts.incrementAndGet();
            if (attempt < 3) {
                failedTwice.countDown();
                if (attempt == 2) {
                    await();
                }
                throw new IllegalStateException("attempt " + attempt);
            }
            return "attempt " + attempt;
        }

        private void await() {
            try {
                assertThat(goOn.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static class FlakyBookings {

        private final JdbcTemplate jdbc;
        private final AtomicInteger attempts = new AtomicInteger();

        public FlakyBookings(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Idempotent(key = "#id")
        @Transactional
        @Retryable(retryFor = IllegalStateException.class, maxAttempts = 3)
        public String book(String id) {
            int attempt = attempts.incrementAndGet();
            if (attempt < 3) {
                throw new IllegalStateException("attempt " + attempt);
            }
            jdbc.update("insert into booking values (?)", id);
            return "booked by attempt " + attempt;
        }
    }

    public static class InBackground {

        @Async
        @Idempotent(key = "#key")
        public CompletableFuture<String> work(String key) {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    public static class Charges {

        @Async
        public CompletableFuture<String> key() {
            return CompletableFuture.completedFuture(IdempotencyContext.current()
                    .map(context -> context.childKey("charge"))
                    .orElse("outside"));
        }
    }

    public static class Orders {

        private final Charges charges;

        Orders(Charges charges) {
            this.charges = charges;
        }

        @Idempotent(key = "#key")
        public boolean sameKeyInBackground(String key) {
            String here = IdempotencyContext.current().orElseThrow().childKey("charge");
            return here.equals(charges.key().join());
        }
    }

    public static class Guarded {

        private final AtomicInteger runs = new AtomicInteger();

        @PreAuthorize("hasRole('BOSS')")
        @Idempotent(key = "#key")
        public String work(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    public static class Cached {

        private final AtomicInteger runs = new AtomicInteger();

        @Cacheable("work")
        @Idempotent(key = "#key")
        public String work(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }
}
