package io.idempotency.boot;

import java.time.Duration;
import java.util.regex.Pattern;
import org.springframework.boot.convert.DurationStyle;

/** Durations as people write them: {@code 30s}, {@code 24h}, {@code PT5S}, never a number without a unit. */
final class Durations {

    private static final Pattern WITHOUT_UNIT = Pattern.compile("[+-]?\\d+");

    private static final long FOUR_DAYS = 4 * 86_400;

    private Durations() {}

    static boolean hasNoUnit(String text) {
        return WITHOUT_UNIT.matcher(text.trim()).matches();
    }

    /** @throws IllegalArgumentException whose message completes the sentence "… is 'text' and …" */
    static Duration parse(String text) {
        if (hasNoUnit(text)) {
            throw new IllegalArgumentException("has no unit");
        }
        try {
            return DurationStyle.detectAndParse(text.trim());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("is not a duration", e);
        }
    }

    static String remedy(String text) {
        return hasNoUnit(text)
                ? "Did you mean " + text.trim() + "s?"
                : "Write a number with its unit, for example 30s, 24h or PT5S.";
    }

    static String print(Duration duration) {
        if (duration.toNanosPart() % 1_000_000 != 0) {
            return duration.toString();
        }
        if (duration.toMillisPart() != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.getSeconds();
        if (seconds % 86_400 == 0 && Math.abs(seconds) > FOUR_DAYS) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3600 == 0 && seconds != 0) {
            return seconds / 3600 + "h";
        }
        return seconds % 60 == 0 && seconds != 0 ? seconds / 60 + "m" : seconds + "s";
    }
}
