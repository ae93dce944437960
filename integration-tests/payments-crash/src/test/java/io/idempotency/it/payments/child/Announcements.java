package io.idempotency.it.payments.child;

import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import java.util.HexFormat;

/** Writes what nobody can ask a killed process for to its output, a line for each event. */
public final class Announcements implements IdempotencyListener {

    public static final String TAKEOVER = "Announced: taken over ";
    public static final String UNSTORED = "Announced: not stored ";
    public static final String CONNECTION_LOST = "Announced: connection lost ";

    Announcements() {}

    /** How a record is called in the lines about it. */
    public static String name(RecordId id) {
        return HexFormat.of().formatHex(id.bytes());
    }

    @Override
    public void onTakeover(String operation, RecordId id, long token) {
        say(TAKEOVER + name(id));
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        say(UNSTORED + name(id));
    }

    static void say(String line) {
        System.out.println(line);
    }
}
