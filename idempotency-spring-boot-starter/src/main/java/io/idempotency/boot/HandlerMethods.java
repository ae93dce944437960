package io.idempotency.boot;

import java.lang.reflect.Method;

/** Knows which methods of beans are called by the library's filter, so that they can be protected. */
interface HandlerMethods {

    /** Whether the method handles requests. */
    boolean isHandler(Method method, Class<?> userClass);

    /** Whether it handles nothing but requests that are idempotent by themselves: GET, HEAD, OPTIONS, TRACE. */
    boolean isSafe(Method method, Class<?> userClass);

    /** Why a method that looks like a handler is none. */
    String limitation();

    /**
     * Fails if calls of the bean's handlers do not pass the gate.
     *
     * @throws IdempotencyConfigurationException if the bean is not proxied
     */
    void checkGate(String beanName, Class<?> userClass);

    /** An application without a servlet stack. */
    HandlerMethods NONE = new HandlerMethods() {
        @Override
        public boolean isHandler(Method method, Class<?> userClass) {
            return false;
        }

        @Override
        public boolean isSafe(Method method, Class<?> userClass) {
            return false;
        }

        @Override
        public String limitation() {
            return "this application has no servlet-based Spring MVC, whose requests are the only ones that bring a key to a"
                    + " controller method";
        }

        @Override
        public void checkGate(String beanName, Class<?> userClass) {}
    };
}
