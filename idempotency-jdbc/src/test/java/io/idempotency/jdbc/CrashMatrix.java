package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.jdbc.CutPoints.Step;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What {@code crash-matrix.md} says, which is also printed in the manual. */
final class CrashMatrix {

    static final String TEXT = read();

    private static final List<List<String>> ROWS = TEXT.lines()
            .filter(line -> line.startsWith("| `"))
            .map(line -> Arrays.stream(line.substring(1).split("\\|"))
                    .map(String::strip)
                    .toList())
            .toList();

    private CrashMatrix() {}

    private static String read() {
        try (InputStream in = CrashMatrix.class.getResourceAsStream("crash-matrix.md")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a retry finds, the later the process dies: the outcomes one after the other. */
    static List<Outcome> afterDeath(Guarantee guarantee) {
        return ROWS.stream()
                .filter(row -> row.size() == 4 && row.get(0).equals("`" + guarantee + "`"))
                .map(row -> new Outcome("", row.get(2), Integer.parseInt(row.get(3))))
                .toList();
    }

    /** What may come of a broken connection. The first row of a step is what must come of it somewhere. */
    static Set<Outcome> afterCut(Guarantee guarantee, Step step, boolean replyLost) {
        return rows(guarantee, step, replyLost).stream()
                .map(row -> new Outcome(row.get(2), row.get(3), Integer.parseInt(row.get(4))))
                .collect(Collectors.toSet());
    }

    private static List<List<String>> rows(Guarantee guarantee, Step step, boolean replyLost) {
        return ROWS.stream()
                .filter(row -> row.size() == 5 && row.get(0).equals("`" + guarantee + "`"))
                .filter(row -> matches(row.get(1), step, replyLost))
                .toList();
    }

    private static boolean matches(String where, Step step, boolean replyLost) {
        return switch (step) {
            case CLAIM -> where.startsWith("in the claim");
            case WORK ->
                where.equals("in the work")
                        || where.equals("in the work, " + (replyLost ? "after" : "before") + " the effect");
            case RECORD -> where.equals("while the result is stored");
            case COMMIT -> where.equals(replyLost ? "after the commit has arrived" : "before the commit arrives");
        };
    }

    /**
     * What came of a call.
     *
     * @param caller what its caller got; empty if nobody is left to get it
     * @param retry what a retry got, immediately and after the lease
     * @param effects how often the work was done in the end
     */
    record Outcome(String caller, String retry, long effects) {}
}
