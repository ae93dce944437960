package io.idempotency.boot;

import java.util.List;
import org.springframework.core.env.Environment;

/** How many duplicates may wait at once: each of them keeps a thread, and the others must have some left. */
final class WaitingRequests {

    private static final int MOST = 64;

    private WaitingRequests() {}

    /** Half of the threads of the web server at most; on virtual threads a waiting request costs nothing. */
    static int atOnce(Environment environment) {
        if (environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false)) {
            return MOST;
        }
        int most = MOST;
        for (String name : List.of("server.tomcat.threads.max", "server.jetty.threads.max")) {
            Integer threads = environment.getProperty(name, Integer.class);
            if (threads != null && threads > 0) {
                most = Math.min(most, Math.max(1, threads / 2));
            }
        }
        return most;
    }
}
