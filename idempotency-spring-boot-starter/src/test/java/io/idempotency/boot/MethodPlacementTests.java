package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.annotation.AliasFor;

/** Where the annotation may stand, and what passes it by. */
@ExtendWith(OutputCaptureExtension.class)
class MethodPlacementTests extends MethodTests {

    @Nested
    class Placement {

        // Case 70.
        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void onAnInterfaceHoldsWithEitherProxy(boolean proxyTargetClass) {
            runner.withBean("desk", DeskImplementation.class)
                    .withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                    .withInitializer(context -> AopConfigUtils.registerAutoProxyCreatorIfNecessary(
                            (BeanDefinitionRegistry) context.getBeanFactory()))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        @SuppressWarnings("unchecked")
                        Desk<Payment> desk = (Desk<Payment>) context.getBean("desk");
                        assertThat(AopUtils.isCglibProxy(desk)).isEqualTo(proxyTargetClass);
                        for (int i = 0; i < 2; i++) {
                            assertThat(desk.take(new Payment("p", BigDecimal.ONE)))
                                    .isEqualTo("taken 1");
                            assertThat(desk.byDefault("p")).isEqualTo("default 2");
                        }
                    });
        }

        // Case 70.
        @Test
        void asAMetaAnnotationHolds() {
            with(Meta.class, meta -> {
                assertThat(meta.pay("p")).isEqualTo("1");
                assertThat(meta.pay("p")).isEqualTo("1");
            });
        }

        // Case 70.
        @Test
        void onAClassMeansItsPublicMethods() {
            with(OnClass.class, service -> {
                for (int i = 0; i < 2; i++) {
                    assertThat(service.first("k")).isEqualTo("first 1");
                    assertThat(service.second("k")).isEqualTo("second 2");
                }
                assertThat(service.toString()).isEqualTo("me");
                assertThat(service.inner("k")).isEqualTo("inner 3");
                assertThat(service.inner("k")).isEqualTo("inner 4");
            });
        }

        // Case 70: a client is a proxy of its own behind an interface.
        @Test
        void onTheInterfaceOfAClientHolds() {
            AtomicInteger calls = new AtomicInteger();
            runner.withBean("client", Client.class, () -> (Client) Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {Client.class},
                            (proxy, method, arguments) -> method.getName().equals("send")
                                    ? "sent " + calls.incrementAndGet()
                                    : method.invoke(calls, arguments)))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        Client client = context.getBean(Client.class);
                        assertThat(client.send("k")).isEqualTo("sent 1");
                        assertThat(client.send("k")).isEqualTo("sent 1");
                    });
        }

        @Test
        void onAProtectedMethodHolds() {
            with(Visible.class, visible -> {
                assertThat(visible.packagePrivate("k")).isEqualTo("1");
                assertThat(visible.packagePrivate("k")).isEqualTo("1");
                assertThat(visible.guarded("k")).isEqualTo("2");
                assertThat(visible.guarded("k")).isEqualTo("2");
            });
        }

        @Test
        void addsOneAdvisorAndCreatesNoBeanEarly() {
            AtomicInteger created = new AtomicInteger();
            runner.withBean(
                            "lazy",
                            Accounts.class,
                            () -> {
                                created.incrementAndGet();
                                return new Accounts();
                            },
                            definition -> definition.setLazyInit(true))
                    .run(context -> {
                        assertThat(created).hasValue(0);
                        Accounts accounts = context.getBean(Accounts.class);
                        assertThat(((Advised) accounts).getAdvisors())
                                .filteredOn(
                                        advisor -> advisor.getClass().getName().startsWith("io.idempotency"))
                                .hasSize(1);
                        assertThat(accounts.debit("7")).isEqualTo(accounts.debit("7"));
                        assertThat(real(accounts).runs).hasValue(1);
                    });
        }
    }

    @Nested
    class SelfInvocation {

        // Case 71.
        @Test
        void onThisIsNotProtectedAndSaysSo(CapturedOutput output) {
            with(SelfCalling.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(2);
                assertThat(output)
                        .contains(SelfCalling.class.getName() + ".outer calls inner: a call on this")
                        .contains(SelfCalling.class.getName() + ".inLambda calls inner: a call on this");
            });
        }

        // Case 71.
        @Test
        void throughAnInjectedReferenceIsProtected(CapturedOutput output) {
            with(SelfInjected.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(1);
                assertThat(output).doesNotContain("a call on this");
            });
        }

        // Case 71.
        @Test
        void throughTheTemplateIsProtected() {
            with(WithTemplate.class, service -> {
                service.outer("k");
                service.outer("k");
                assertThat(real(service).runs).hasValue(1);
            });
        }
    }

    interface Desk<T> {

        @Idempotent(key = "#what.number")
        String take(T what);

        @Idempotent(key = "#id")
        default String byDefault(String id) {
            return "default " + next();
        }

        int next();
    }

    static class DeskImplementation implements Desk<Payment> {

        private final AtomicInteger runs = new AtomicInteger();

        @Override
        public String take(Payment payment) {
            return "taken " + next();
        }

        @Override
        public int next() {
            return runs.incrementAndGet();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Idempotent
    @interface PaymentOperation {

        @AliasFor(annotation = Idempotent.class, attribute = "key")
        String value();
    }

    static class Meta {

        private final AtomicInteger runs = new AtomicInteger();

        @PaymentOperation("#id")
        public String pay(String id) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    @Idempotent(key = "#key")
    static class OnClass {

        private final AtomicInteger runs = new AtomicInteger();

        public String first(String key) {
            return "first " + runs.incrementAndGet();
        }

        public String second(String key) {
            return "second " + runs.incrementAndGet();
        }

        String inner(String other) {
            return "inner " + runs.incrementAndGet();
        }

        @Override
        public String toString() {
            return "me";
        }
    }

    interface Client {

        @Idempotent(key = "#key")
        String send(String key);
    }

    static class Visible {

        private final AtomicInteger runs = new AtomicInteger();

        @Idempotent(key = "#key")
        String packagePrivate(String key) {
            return String.valueOf(runs.incrementAndGet());
        }

        @Idempotent(key = "#key")
        protected String guarded(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class SelfCalling {

        final AtomicInteger runs = new AtomicInteger();

        public void outer(String key) {
            inner(key);
        }

        public Runnable inLambda(String key) {
            return () -> inner(key);
        }

        @Idempotent(key = "#key")
        public String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class SelfInjected {

        final AtomicInteger runs = new AtomicInteger();

        @Autowired
        @Nullable
        ObjectProvider<SelfInjected> self;

        public void outer(String key) {
            self.getObject().inner(key);
        }

        @Idempotent(key = "#key")
        public String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }

    static class WithTemplate {

        private static final IdempotentOperation<String> INNER =
                IdempotentOperation.named("inner", String.class).build();

        final AtomicInteger runs = new AtomicInteger();
        private final IdempotencyTemplate template;

        WithTemplate(IdempotencyTemplate template) {
            this.template = template;
        }

        public void outer(String key) {
            template.execute(INNER, key, () -> inner(key));
        }

        private String inner(String key) {
            return String.valueOf(runs.incrementAndGet());
        }
    }
}
