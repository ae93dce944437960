package io.idempotency.jdbc;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The name of the table, checked once: nothing else of the configuration becomes part of a statement. */
record TableName(String text, Use use) {

    static final String DEFAULT = "idempotency_record";

    static final String DEFAULT_ARCHIVE = "idempotency_archive";

    private static final int MAXIMUM_LENGTH = 128;

    /** PostgreSQL cuts longer identifiers off without a word. */
    private static final int MAXIMUM_PART = 63;

    private static final Pattern FORM = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(\\.[A-Za-z_][A-Za-z0-9_$]*)?");

    TableName(String text) {
        this(text, Use.RECORDS);
    }

    TableName {
        if (text.length() > MAXIMUM_LENGTH || !FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    use.property + " is not the name of a table: letters, digits, _ and $, at most one dot between"
                            + " schema and table, at most " + MAXIMUM_LENGTH + " characters");
        }
        for (String part : text.split("\\.", -1)) {
            if (part.length() > MAXIMUM_PART) {
                throw new IllegalArgumentException(use.property + ": " + part + " is longer than " + MAXIMUM_PART
                        + " characters, which not every database keeps");
            }
        }
    }

    /** The schema, if it names one. */
    @Nullable
    String schema() {
        int dot = text.indexOf('.');
        return dot < 0 ? null : text.substring(0, dot);
    }

    String simpleName() {
        return text.substring(text.indexOf('.') + 1);
    }

    /** A shipped script with this table in place of the default one; constraint and index get names to match. */
    String inScript(String script) {
        return use.inScript.matcher(script).replaceAll(found -> {
            String suffix = found.group(1);
            if (suffix.isEmpty()) {
                return text.replace("$", "\\$");
            }
            String simpleName = simpleName();
            int room = Math.min(simpleName.length(), MAXIMUM_PART - suffix.length());
            return (simpleName.substring(0, room) + suffix).replace("$", "\\$");
        });
    }

    /** What a table is for. */
    enum Use {
        RECORDS("idempotency.jdbc.table-name", DEFAULT),
        ARCHIVE("idempotency.jdbc.archive.table-name", DEFAULT_ARCHIVE);

        private final String property;
        private final Pattern inScript;

        Use(String property, String defaultName) {
            this.property = property;
            this.inScript = Pattern.compile("\\b" + defaultName + "(\\w*)");
        }
    }
}
