package io.idempotency.it.payments.child;

import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Counts the JDBC calls of one request, and ends the process or fails at a chosen one. */
final class Failpoints {

    /** Exit code of a process that ended at a failpoint. */
    private static final int EXIT_CODE = 99;

    private static final List<String> calls = new ArrayList<>();

    private static boolean armed;
    private static int haltBefore;
    private static int haltAfter;

    /** Share of the statements and commits that lose their connection, before or after the database has done its part. */
    private static double lossRate;

    private Failpoints() {}

    /** Starts to count; {@code command} is {@code count}, {@code before N} or {@code after N}. */
    static synchronized void arm(String command) {
        calls.clear();
        armed = true;
        String[] words = command.split(" ");
        haltBefore = words[0].equals("before") ? Integer.parseInt(words[1]) : 0;
        haltAfter = words[0].equals("after") ? Integer.parseInt(words[1]) : 0;
    }

    static synchronized void loseConnections(double rate) {
        lossRate = rate;
    }

    static synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    /** Makes one call to the database. */
    static Object around(String name, DatabaseCall call, ConnectionLoss loss) throws Throwable {
        int number = begin(name);
        boolean lost = ThreadLocalRandom.current().nextDouble() < lossRate();
        if (lost && ThreadLocalRandom.current().nextBoolean()) {
            throw lose(loss, "before", name);
        }
        Object result = call.run();
        haltIf(number > 0 && number == haltAfter(), "after", name);
        if (lost) {
            throw lose(loss, "after", name);
        }
        return result;
    }

    /** The number of the call since a request has armed a failpoint, 0 if none has. */
    private static synchronized int begin(String name) {
        if (!armed) {
            return 0;
        }
        calls.add(name);
        haltIf(calls.size() == haltBefore, "before", name);
        return calls.size();
    }

    private static synchronized int haltAfter() {
        return haltAfter;
    }

    private static synchronized double lossRate() {
        return lossRate;
    }

    private static void haltIf(boolean reached, String moment, String name) {
        if (reached) {
            System.out.println("Halted " + moment + " " + name);
            System.out.flush();
            Runtime.getRuntime().halt(EXIT_CODE);
        }
    }

    private static SQLException lose(ConnectionLoss loss, String moment, String name) throws SQLException {
        loss.loseConnection();
        Announcements.say(Announcements.CONNECTION_LOST + moment + " " + name);
        return new SQLRecoverableException("Injected: connection lost " + moment + " " + name, "08006");
    }

    @FunctionalInterface
    interface DatabaseCall {
        Object run() throws Throwable;
    }

    @FunctionalInterface
    interface ConnectionLoss {
        void loseConnection() throws SQLException;
    }
}
