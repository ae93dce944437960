package io.idempotency.spring.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.InvalidIdempotencyKeyException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.EvaluationException;

class ArgumentExpressionTests {

    public record Customer(String id, List<String> tags) {}

    public record Order(String number, Customer customer, Map<String, String> headers) {}

    public static class Open {

        public String getName() {
            return "open";
        }
    }

    public static class Richer extends Open {

        public String getMore() {
            return "more";
        }
    }

    interface Door<T> {

        void enter(T guest);
    }

    static class House implements Door<Customer> {

        @Override
        public void enter(Customer visitor) {}
    }

    static class Target {

        public void place(Order order, int attempt, Open open) {}
    }

    private static final Order ORDER = new Order("o-1", new Customer("c-1", List.of("a", "b")), Map.of("trace", "t-1"));

    private static Method method(Class<?> type, String name) {
        return Arrays.stream(type.getMethods())
                .filter(each -> each.getName().equals(name) && !each.isBridge())
                .findFirst()
                .orElseThrow();
    }

    private static ArgumentExpression parse(String text) {
        return ArgumentExpression.parse(text, method(Target.class, "place"), Target.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            #order.number                         | o-1
            #order.number()                       | o-1
            #p0.number                            | o-1
            #a0.customer.id                       | c-1
            #attempt                              | 3
            #order.customer.tags[0]               | a
            #order.headers['trace']               | t-1
            #order.headers[trace]                 | t-1
            #order.customer?.id                   | c-1
            #order.number + '/' + #attempt        | o-1/3
            #attempt > 2 ? #order.number : 'none' | o-1
            {#order.number, #attempt}             | [o-1, 3]
            #order.customer.tags.![#this + '!']   | [a!, b!]
            #order.customer.tags.![length()]      | [1, 1]
            #open.more                            | more
            """)
    void readsArguments(String text, String expected) {
        Object value = parse(text).valueOf(new Object[] {ORDER, 3, new Richer()});

        assertThat(String.valueOf(value)).isEqualTo(expected);
    }

    @Test
    void hasTheSameValueOnceItIsCompiled() {
        ArgumentExpression expression = parse("#order.number");

        for (int i = 0; i < 500; i++) {
            assertThat(expression.valueOf(new Object[] {ORDER, i, new Open()})).isEqualTo("o-1");
        }
        assertThat(expression.valueOf(new Object[] {null, 0, null})).isNull();
    }

    @Test
    void isNullWhereAPartOfThePathIs() {
        assertThat(parse("#order.customer.id").valueOf(new Object[] {new Order("o", null, null), 1, null}))
                .isNull();
        assertThat(parse("#order.number()").valueOf(new Object[] {null, 1, null}))
                .isNull();
        assertThat(parse("#order.headers['x']").valueOf(new Object[] {new Order("o", null, null), 1, null}))
                .isNull();
    }

    @Test
    void knowsTheParameterNamesOfTheInterfaceThatIsImplemented() {
        Customer customer = new Customer("c-2", List.of());

        assertThat(ArgumentExpression.parse("#guest.id", method(House.class, "enter"), House.class)
                        .valueOf(new Object[] {customer}))
                .isEqualTo("c-2");
        assertThat(ArgumentExpression.parse("#visitor.id", method(House.class, "enter"), House.class)
                        .valueOf(new Object[] {customer}))
                .isEqualTo("c-2");
    }

    // Case 66: a typing error is found before the first call where that is possible, and is never a null key.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "#ordre.number",
                "order.number",
                "number",
                "#order.nmuber",
                "#order.customer.idd",
                "#this",
                "#root",
                "#order.",
                "{#order.number",
                ""
            })
    void refusesAtStartWhatCanNeverHaveAValue(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "T(java.lang.Runtime).getRuntime()",
                "new java.lang.String('x') + #attempt",
                "@bean.key(#order)",
                "#order.number = 'x'",
                "#attempt++",
                "#order.customer.tags.![T(java.lang.System).exit(1)]",
                "{T(java.lang.System).getenv(), #order}"
            })
    void refusesWhatDoesMoreThanRead(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(text));
    }

    @Test
    void refusesReflectionWhenItIsEvaluated() {
        assertThatThrownBy(() -> parse("#open.getClass()").valueOf(new Object[] {ORDER, 1, new Open()}))
                .isInstanceOf(EvaluationException.class);
    }

    @Test
    void namesWhatIsKnown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("#ordre"))
                .withMessageContaining("#ordre")
                .withMessageContaining("#order, #attempt, #open");
    }

    // Case 66.
    @Test
    void aKeyThatIsNullOrBlankIsNone() {
        KeyExpression key = KeyExpression.parse("#order.number", method(Target.class, "place"), Target.class);

        for (String number : new String[] {null, "", "  "}) {
            Object[] arguments = {new Order(number, null, null), 1, null};
            assertThat(key.keyOf(arguments)).isNull();
            assertThatThrownBy(() -> key.require(arguments))
                    .isInstanceOf(InvalidIdempotencyKeyException.class)
                    .hasMessageContaining("#order.number")
                    .hasMessageContaining("place");
        }
        assertThat(key.keyOf(new Object[] {ORDER, 1, null})).isEqualTo("o-1");
    }

    @Test
    void aKeyWithoutAStableTextFormIsRefusedByItsType() {
        KeyExpression key = KeyExpression.parse("#open", method(Target.class, "place"), Target.class);

        assertThatThrownBy(() -> key.keyOf(new Object[] {ORDER, 1, new Open()}))
                .isInstanceOf(InvalidIdempotencyKeyException.class)
                .hasMessageContaining(Open.class.getName() + " has no stable text form");
    }

    @Test
    void aKeyThatIsTooLongIsRefused() {
        KeyExpression key = KeyExpression.parse("#order.number", method(Target.class, "place"), Target.class);

        assertThatThrownBy(() -> key.keyOf(new Object[] {new Order("x".repeat(4097), null, null), 1, null}))
                .isInstanceOf(InvalidIdempotencyKeyException.class);
    }
}
