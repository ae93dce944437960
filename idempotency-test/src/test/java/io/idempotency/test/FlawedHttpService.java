package io.idempotency.test;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A service without this library that keeps the rules of {@link HttpConformanceContract}, but for a flaw. Its work is to count. */
final class FlawedHttpService implements AutoCloseable {

    private static final Pattern KEY =
            Pattern.compile("\"([^\"\\\\]{1,255})\"(?:;[a-z]+=[a-z0-9]+)*|([^\",; ]{1,255})");

    private final @Nullable HttpFlaw flaw;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Call> calls = new ConcurrentHashMap<>();
    private final AtomicInteger work = new AtomicInteger();

    FlawedHttpService(@Nullable HttpFlaw flaw) throws IOException {
        this.flaw = flaw;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/count", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/count");
    }

    private void handle(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String key = key(exchange);
        if (key == null) {
            refuse(exchange, 400);
            return;
        }
        String caller = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        Call mine = new Call(caller, body);
        Call known = claim(caller, key, mine);
        if (known == null) {
            mine.answer = "{\"count\":" + work.incrementAndGet() + "}";
            answer(exchange, mine.answer, false);
        } else if (!known.body.equals(body) && flaw != HttpFlaw.PAYLOAD_IS_NOT_COMPARED) {
            refuse(exchange, 422);
        } else if (known.answer == null) {
            exchange.getResponseHeaders().set("Retry-After", "1");
            refuse(exchange, 409);
        } else {
            answer(exchange, known.answer, isMarked(known, caller));
        }
    }

    private static @Nullable String key(HttpExchange exchange) {
        List<String> values = exchange.getRequestHeaders().getOrDefault("Idempotency-Key", List.of());
        Matcher matcher = KEY.matcher(String.join("\n", values));
        if (values.size() != 1 || !matcher.matches()) {
            return null;
        }
        return matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
    }

    /** The call that has the key; null if it is this one. */
    private @Nullable Call claim(String caller, String key, Call mine) {
        Call holder;
        if (flaw == HttpFlaw.CALLERS_DISPLACE_EACH_OTHER) {
            holder = calls.compute(key, (any, known) -> known == null || !known.caller.equals(caller) ? mine : known);
        } else if (flaw == HttpFlaw.CALLERS_SHARE_KEYS) {
            holder = calls.putIfAbsent(key, mine);
        } else if (flaw == HttpFlaw.CALLERS_SHARE_RESULTS_UNNOTICED) {
            Call equal = calls.computeIfAbsent(key + " with " + mine.body, any -> mine);
            holder = calls.computeIfAbsent(key + " of " + caller, any -> equal);
        } else {
            holder = calls.putIfAbsent(key + " of " + caller, mine);
        }
        return holder == mine ? null : holder;
    }

    private boolean isMarked(Call known, String caller) {
        // Looks like a first answer.
        boolean unnoticed = flaw == HttpFlaw.CALLERS_SHARE_RESULTS_UNNOTICED
                && !known.caller.equals(caller)
                && known.seenBy.add(caller);
        return !unnoticed && flaw != HttpFlaw.REPLAYS_ARE_NOT_MARKED;
    }

    private static void answer(HttpExchange exchange, String answer, boolean replayed) throws IOException {
        if (replayed) {
            exchange.getResponseHeaders().set("Idempotent-Replayed", "true");
        }
        send(exchange, 201, "application/json", answer);
    }

    private static void refuse(HttpExchange exchange, int status) throws IOException {
        String problem = "{\"type\":\"about:blank\",\"title\":\"refused\",\"status\":" + status + "}";
        send(exchange, status, "application/problem+json", problem);
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private static final class Call {

        private final String caller;
        private final String body;
        private final Set<String> seenBy = ConcurrentHashMap.newKeySet();
        private volatile @Nullable String answer;

        Call(String caller, String body) {
            this.caller = caller;
            this.body = body;
        }
    }
}
