package io.idempotency.engine;

import io.idempotency.spi.Owner;
import io.idempotency.test.MutableClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.UUID;

/** Time that passes only when a test says so, and tasks that run on the test's own thread when their time has come. */
final class VirtualRuntime implements EngineRuntime {

    /** Ten seconds before the number of nanoseconds starts again from the smallest, as it may on a real machine. */
    private static final long ORIGIN = Long.MAX_VALUE - Duration.ofSeconds(10).toNanos();

    final MutableClock clock = new MutableClock(Instant.parse("2026-01-01T00:00:00Z"));
    double random = 0.5;
    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(Task::due));
    private long owners;

    /** Lets time pass and runs what comes due meanwhile, each task at its own moment. */
    void pass(Duration time) {
        long end = clock.nanoTime() + time.toNanos();
        while (!tasks.isEmpty() && tasks.peek().due <= end) {
            Task task = tasks.poll();
            moveTo(task.due);
            task.run.run();
        }
        moveTo(end);
    }

    private void moveTo(long moment) {
        if (moment > clock.nanoTime()) {
            clock.advance(Duration.ofNanos(moment - clock.nanoTime()));
        }
    }

    int pending() {
        return tasks.size();
    }

    @Override
    public long nanoTime() {
        return ORIGIN + clock.nanoTime();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        pass(duration);
    }

    @Override
    public Owner newOwner() {
        return new Owner(new UUID(System.identityHashCode(this), ++owners));
    }

    @Override
    public double random() {
        return random;
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable run) {
        Task task = new Task(clock.nanoTime() + delay.toNanos(), run);
        tasks.add(task);
        return () -> tasks.remove(task);
    }

    @Override
    public void close() {
        tasks.clear();
    }

    private record Task(long due, Runnable run) {}
}
