package io.idempotency.boot;

import io.idempotency.IdempotencyModes;
import io.idempotency.Mode;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The modes of the properties, until somebody switches them. */
final class ConfiguredModes implements IdempotencyModes {

    private static final Logger log = LoggerFactory.getLogger(ConfiguredModes.class);

    private final Operations operations;
    private final Map<String, Mode> atStart = new ConcurrentHashMap<>();
    private final Map<String, Mode> own = new ConcurrentHashMap<>();
    private volatile @Nullable Mode all;

    ConfiguredModes(Operations operations) {
        this.operations = operations;
    }

    /** The operations of the application; others become known when they are called. */
    void know(Collection<String> names) {
        names.forEach(this::atStart);
    }

    private Mode atStart(String operation) {
        Mode known = atStart.get(operation);
        if (known == null) {
            known = operations.modeAtStart(operation);
            atStart.put(operation, known);
        }
        return known;
    }

    @Override
    public Mode of(String operation) {
        Mode start = atStart(operation);
        if (start == Mode.OFF) {
            return Mode.OFF;
        }
        Mode switched = own.get(operation);
        if (switched != null) {
            return switched;
        }
        Mode common = all;
        return common == null || operations.hasModeOfItsOwn(operation) ? start : common;
    }

    @Override
    public Map<String, Mode> all() {
        Map<String, Mode> modes = new TreeMap<>();
        atStart.keySet().forEach(operation -> modes.put(operation, of(operation)));
        return modes;
    }

    @Override
    public void set(Mode mode) {
        if (operations.modeAtStart() == Mode.OFF) {
            throw new IllegalStateException(
                    "idempotency.mode was off at start, so that nothing was checked: start with observe");
        }
        all = mode;
        log.info("The mode of operations that have none of their own is {} now", mode);
    }

    @Override
    public void set(String operation, Mode mode) {
        requireKnown(operation);
        if (atStart(operation) == Mode.OFF) {
            throw new IllegalStateException("The mode of operation " + operation
                    + " was off at start, so that it was not checked: start with observe");
        }
        own.put(operation, mode);
        log.info("The mode of operation {} is {} now", operation, mode);
    }

    @Override
    public void reset(String operation) {
        requireKnown(operation);
        own.remove(operation);
        log.info("The mode of operation {} is {} now, by configuration", operation, of(operation));
    }

    private void requireKnown(String operation) {
        if (!atStart.containsKey(operation)) {
            throw new IllegalArgumentException("There is no operation " + operation + ". Known operations: "
                    + String.join(", ", new TreeSet<>(atStart.keySet())));
        }
    }
}
