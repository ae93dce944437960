package io.idempotency.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Tasks on threads of their own of which one runs at a time, in virtual time: it hands a baton to whoever wakes next by that time,
 * so that the same wishes always give the same course.
 */
final class Fibers {

    private static final int MOST_EVENTS = 200_000;
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "fiber");
        thread.setDaemon(true);
        return thread;
    });

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final List<Fiber> alive = new ArrayList<>();
    private final Semaphore driver = new Semaphore(0);
    private long now;
    private long numbers;
    private @Nullable Fiber current;
    private @Nullable Fiber chosen;
    private @Nullable Throwable failure;

    long now() {
        return now;
    }

    Fiber current() {
        if (current == null) {
            throw new IllegalStateException("No fiber runs");
        }
        return current;
    }

    /** Something that happens at once when its time has come, and must not suspend. */
    void after(long nanos, Runnable happening) {
        events.add(new Event(now + nanos, numbers++, happening));
    }

    void start(Process process, long nanos, Runnable task) {
        Fiber fiber = new Fiber(process, task);
        alive.add(fiber);
        fiber.wakeAfter(nanos);
    }

    /** Lets others run for some virtual time. */
    void suspend(long nanos) {
        Fiber me = current();
        me.wakeAfter(nanos);
        passOn(me);
        if (me.process.isDead() || failure != null) {
            throw new Died();
        }
    }

    /** Wakes the fibers of a dead process, so that they end. */
    void wake(Process process) {
        alive.stream().filter(fiber -> fiber.process == process).forEach(fiber -> fiber.wakeAfter(0));
    }

    /** Runs until nothing is left to happen. */
    void runToTheEnd() throws Throwable {
        passOn(null);
        if (failure != null) {
            throw failure;
        }
    }

    private void passOn(@Nullable Fiber from) {
        Fiber next = choose();
        current = next;
        if (next == from) {
            return;
        }
        if (next == null) {
            driver.release();
        } else {
            next.go();
        }
        if (from == null) {
            driver.acquireUninterruptibly();
        } else if (!from.ended) {
            from.turn.acquireUninterruptibly();
        }
    }

    private @Nullable Fiber choose() {
        chosen = null;
        while (!events.isEmpty()) {
            if (numbers > MOST_EVENTS && failure == null) {
                fail(new AssertionError("It does not come to an end"));
            }
            Event event = events.poll();
            now = Math.max(now, event.at);
            event.happening.run();
            if (chosen != null) {
                return chosen;
            }
        }
        return null;
    }

    private void fail(Throwable reason) {
        failure = reason;
        events.clear();
        alive.forEach(fiber -> fiber.wakeAfter(0));
    }

    private record Event(long at, long number, Runnable happening) {}

    /** What fibers share that die or pause together. */
    interface Process {

        boolean isDead();

        /** Until when none of its fibers runs. */
        long pausedUntil();
    }

    /** Ends the fibers of a process that is no more. */
    static final class Died extends Error {

        private static final long serialVersionUID = 1L;

        Died() {
            super("died", null, false, false);
        }
    }

    final class Fiber {

        final Process process;
        private final Runnable task;
        private final Semaphore turn = new Semaphore(0);
        private boolean started;
        private boolean ended;
        private long wakes;

        private Fiber(Process process, Runnable task) {
            this.process = process;
            this.task = task;
        }

        private void wakeAfter(long nanos) {
            wakeAt(now + nanos, ++wakes);
        }

        private void wakeAt(long moment, long wake) {
            events.add(new Event(moment, numbers++, () -> {
                if (wake != wakes || ended) {
                    return;
                }
                if (process.pausedUntil() > now && !process.isDead() && failure == null) {
                    wakeAt(process.pausedUntil(), wake);
                } else {
                    chosen = this;
                }
            }));
        }

        private void go() {
            if (started) {
                turn.release();
            } else {
                started = true;
                THREADS.execute(this::run);
            }
        }

        private void run() {
            try {
                if (!process.isDead() && failure == null) {
                    task.run();
                }
            } catch (Died expected) {
                // That is how the fibers of a dead process end.
            } catch (Throwable e) {
                if (failure == null) {
                    fail(e);
                }
            } finally {
                ended = true;
                alive.remove(this);
                passOn(this);
            }
        }
    }
}
