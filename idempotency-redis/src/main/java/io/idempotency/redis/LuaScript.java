package io.idempotency.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

/** One step on one key that runs inside the server. */
final class LuaScript {

    private final byte[] text;
    private final String digest;

    private LuaScript(byte[] text) {
        this.text = text;
        try {
            this.digest =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-1 is part of every Java platform", e);
        }
    }

    /** The script of that file, after the one that reads the record. */
    static LuaScript of(String name) {
        return new LuaScript((read("record") + "\n" + read(name)).getBytes(StandardCharsets.UTF_8));
    }

    /** The script of that file. */
    static LuaScript alone(String name) {
        return new LuaScript(read(name).getBytes(StandardCharsets.UTF_8));
    }

    private static String read(String name) {
        try (InputStream file = LuaScript.class.getResourceAsStream(name + ".lua")) {
            if (file == null) {
                throw new IllegalStateException(name + ".lua is not beside " + LuaScript.class.getName());
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends its digest, and itself where the server does not have it (any more). */
    Reply run(RedisConnection connection, byte[] key, byte[]... arguments) {
        byte[][] keyAndArguments = new byte[arguments.length + 1][];
        keyAndArguments[0] = key;
        System.arraycopy(arguments, 0, keyAndArguments, 1, arguments.length);
        List<?> values;
        try {
            values = connection.scriptingCommands().evalSha(digest, ReturnType.MULTI, 1, keyAndArguments);
        } catch (RuntimeException e) {
            if (!RedisFailures.isMissingScript(e)) {
                throw e;
            }
            values = connection.scriptingCommands().eval(text, ReturnType.MULTI, 1, keyAndArguments);
        }
        if (values == null) {
            throw new IllegalStateException(
                    "A script was queued, not run: the connection is in a pipeline or transaction");
        }
        return new Reply(values);
    }

    /** What a script returns: the server's time, and more. */
    static final class Reply {

        private final List<?> values;

        private Reply(List<?> values) {
            this.values = values;
        }

        /** When it ran, by the server's clock. */
        long now() {
            return number(0);
        }

        int size() {
            return values.size();
        }

        long number(int index) {
            return (Long) values.get(index);
        }

        byte[] bytes(int index) {
            return (byte[]) values.get(index);
        }
    }
}
