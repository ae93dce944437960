package io.idempotency.test;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.IdempotencyStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Puts faults into the calls of a store, to see what a service does when its store fails, loses an answer or is slow.
 *
 * <pre>
 * FaultyStore faulty = FaultyStore.around(InMemoryIdempotencyStore.onSystemClock());
 * faulty.after("complete").fail();                      // stored, and the answer lost
 * Pause pause = faulty.before("tryClaim").pause();      // the next claim waits until pause.resume()
 * service = new Service(faulty.store());
 * </pre>
 *
 * <p>What is planned at a point happens once, to the next call that gets there, in the order in which it was planned. All methods
 * may be called on any thread.
 *
 * @since 0.1.0
 */
public final class FaultyStore {

    private static final long LONGEST_PAUSE_SECONDS = 60;

    private final IdempotencyStore delegate;
    private final IdempotencyStore proxy;
    private final Set<String> methods = new LinkedHashSet<>();
    private final Map<String, Point> before = new HashMap<>();
    private final Map<String, Point> after = new HashMap<>();
    private final List<String> calls = new CopyOnWriteArrayList<>();

    private FaultyStore(IdempotencyStore delegate) {
        this.delegate = delegate;
        Set<Class<?>> interfaces = new LinkedHashSet<>();
        interfaces.add(IdempotencyStore.class);
        for (Class<?> type = delegate.getClass(); type != null; type = type.getSuperclass()) {
            Arrays.stream(type.getInterfaces())
                    .filter(IdempotencyStore.class::isAssignableFrom)
                    .forEach(interfaces::add);
        }
        for (Class<?> type : interfaces) {
            for (Method method : type.getMethods()) {
                methods.add(method.getName());
                before.put(method.getName(), new Point());
                after.put(method.getName(), new Point());
            }
        }
        this.proxy = (IdempotencyStore) Proxy.newProxyInstance(
                IdempotencyStore.class.getClassLoader(),
                interfaces.toArray(Class<?>[]::new),
                (self, method, arguments) -> invoke(method, arguments));
    }

    /** Faults for the calls of this store. */
    public static FaultyStore around(IdempotencyStore store) {
        return new FaultyStore(store);
    }

    /** The store with the faults: of the same store interfaces as the one around which they are put. */
    public IdempotencyStore store() {
        return proxy;
    }

    /**
     * The point before a call reaches the store: what fails here has not happened.
     *
     * @param method name of a method of the store's interfaces, for example {@code tryClaim}
     */
    public Point before(String method) {
        return point(before, method);
    }

    /**
     * The point after the store has answered and before the caller hears it: what fails here has happened.
     *
     * @param method name of a method of the store's interfaces, for example {@code complete}
     */
    public Point after(String method) {
        return point(after, method);
    }

    /** The names of the methods that were called, in the order of the calls. */
    public List<String> calls() {
        return List.copyOf(calls);
    }

    /** Drops everything that is planned, and the list of calls. */
    public void reset() {
        before.values().forEach(Point::clear);
        after.values().forEach(Point::clear);
        calls.clear();
    }

    private static Point point(Map<String, Point> points, String method) {
        Point point = points.get(method);
        if (point == null) {
            throw new IllegalArgumentException("The store has no method " + method + ", but " + points.keySet());
        }
        return point;
    }

    private @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Throwable {
        if (!methods.contains(method.getName())) {
            return forward(method, arguments);
        }
        calls.add(method.getName());
        before(method.getName()).pass();
        Object answer = forward(method, arguments);
        after(method.getName()).pass();
        return answer;
    }

    private @Nullable Object forward(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(delegate, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    /** A point that calls of one method pass. */
    public static final class Point {

        private final Deque<Runnable> planned = new ArrayDeque<>();
        private @Nullable Runnable always;

        private Point() {}

        /** The next call fails here with a {@link StoreUnavailableException}. */
        public void fail() {
            run(Point::refuse);
        }

        /** The next call fails here with this exception. */
        public void fail(RuntimeException failure) {
            run(() -> {
                throw failure;
            });
        }

        /** From now on every call fails here with a {@link StoreUnavailableException}, until the faults are reset. */
        public synchronized void failAlways() {
            always = Point::refuse;
        }

        /** The next call does this here first. */
        public synchronized void run(Runnable step) {
            planned.add(step);
        }

        /** The next call waits here until it is resumed. */
        public Pause pause() {
            Pause pause = new Pause();
            run(pause::hold);
            return pause;
        }

        private void pass() {
            Runnable step = next();
            if (step != null) {
                step.run();
            }
        }

        private synchronized @Nullable Runnable next() {
            Runnable step = planned.poll();
            return step == null ? always : step;
        }

        private synchronized void clear() {
            planned.clear();
            always = null;
        }

        private static void refuse() {
            throw new StoreUnavailableException("The store was told to fail", null);
        }
    }

    /** A call that waits. Closing resumes it. */
    public static final class Pause implements AutoCloseable {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch resumed = new CountDownLatch(1);

        private Pause() {}

        /** Waits until a call has got to the point. */
        public void awaitReached() {
            await(reached, "No call got to the point");
        }

        /** Lets the call go on. */
        public void resume() {
            resumed.countDown();
        }

        @Override
        public void close() {
            resume();
        }

        private void hold() {
            reached.countDown();
            await(resumed, "Nobody resumed the call");
        }

        private static void await(CountDownLatch latch, String otherwise) {
            try {
                if (!latch.await(LONGEST_PAUSE_SECONDS, TimeUnit.SECONDS)) {
                    throw new IllegalStateException(otherwise + " within " + LONGEST_PAUSE_SECONDS + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(otherwise + ": interrupted", e);
            }
        }
    }
}
