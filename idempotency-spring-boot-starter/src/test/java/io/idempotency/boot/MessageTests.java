package io.idempotency.boot;

import java.lang.reflect.Proxy;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Listeners as their containers call them: an exception means that the message comes again, a return that it is done. */
abstract class MessageTests extends BeanTests {

    MessageTests() {
        super(IdempotencyMessagingAutoConfiguration.class);
    }

    static <T> T scripted(Class<T> type, BiFunction<String, Object[], @Nullable Object> script) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, called, arguments) -> script.apply(called.getName(), arguments)));
    }
}
