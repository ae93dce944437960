package io.idempotency.boot;

import io.idempotency.IdempotencyModes;
import io.idempotency.Mode;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Actuator endpoint that tells and switches the modes of operations, as {@link IdempotencyModes} does.
 *
 * @since 0.1.0
 */
@Endpoint(id = "idempotencymodes")
public final class IdempotencyModesEndpoint {

    private static final String DEFAULT = "default";

    private final IdempotencyModes modes;

    IdempotencyModesEndpoint(IdempotencyModes modes) {
        this.modes = modes;
    }

    /** The mode of every known operation. */
    @ReadOperation
    public Map<String, String> modes() {
        Map<String, String> all = new TreeMap<>();
        modes.all().forEach((operation, mode) -> all.put(operation, text(mode)));
        return all;
    }

    /** Switches all operations that have no mode of their own. */
    @WriteOperation
    public void setMode(String mode) {
        checked(mode, modes::set);
    }

    /** Switches one operation; {@code default} takes that back. */
    @WriteOperation
    public void setModeOf(@Selector String operation, String mode) {
        if (mode.equalsIgnoreCase(DEFAULT)) {
            refusing(() -> modes.reset(operation));
        } else {
            checked(mode, wanted -> modes.set(operation, wanted));
        }
    }

    private static void checked(String mode, Consumer<Mode> set) {
        refusing(() -> set.accept(Mode.valueOf(mode.toUpperCase(Locale.ROOT))));
    }

    private static void refusing(Runnable change) {
        try {
            change.run();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new InvalidEndpointRequestException(String.valueOf(e.getMessage()), "cannot be switched so", e);
        }
    }

    private static String text(Mode mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
