package io.idempotency.spring.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FastByteArrayOutputStream;

/** Holds a response body back: in memory up to one limit, beyond it in a temporary file up to another one. */
final class BodyBuffer implements AutoCloseable {

    private final long memoryLimit;
    private final long spillLimit;
    private FastByteArrayOutputStream memory = new FastByteArrayOutputStream(1024);
    private long size;
    private @Nullable Path file;
    private @Nullable OutputStream spill;
    private boolean incomplete;

    BodyBuffer(long memoryLimit, long spillLimit) {
        this.memoryLimit = memoryLimit;
        this.spillLimit = Math.max(memoryLimit, spillLimit);
    }

    void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            append(bytes, offset, length);
        } catch (IOException e) {
            incomplete = true;
            throw e;
        }
    }

    private void append(byte[] bytes, int offset, int length) throws IOException {
        if (size + length > spillLimit) {
            throw new IOException("The response is larger than the " + spillLimit
                    + " bytes that can be held back until it is recorded");
        }
        if (spill == null && size + length > memoryLimit) {
            spill = openSpill();
        }
        if (spill == null) {
            memory.write(bytes, offset, length);
        } else {
            spill.write(bytes, offset, length);
        }
        size += length;
    }

    private OutputStream openSpill() throws IOException {
        Path created = Files.createTempFile("idempotency-response-", ".tmp");
        file = created;
        return Files.newOutputStream(created, StandardOpenOption.WRITE);
    }

    long size() {
        return size;
    }

    /** Whether that many bytes more would not be in memory. */
    boolean wouldOverflow(int length) {
        return size + length > memoryLimit;
    }

    /** Whether all of it is in memory. */
    boolean isSmall() {
        return spill == null;
    }

    /** Whether something was written that could not be held back; a reset does not undo that. */
    boolean isIncomplete() {
        return incomplete;
    }

    /** A copy of what is in memory. */
    byte[] toByteArray() {
        return memory.toByteArray();
    }

    void writeTo(OutputStream out) throws IOException {
        memory.writeTo(out);
        if (spill != null && file != null) {
            spill.flush();
            Files.copy(file, out);
        }
    }

    void reset() throws IOException {
        memory = new FastByteArrayOutputStream(1024);
        size = 0;
        close();
    }

    @Override
    public void close() throws IOException {
        if (spill != null) {
            spill.close();
            spill = null;
        }
        if (file != null) {
            Files.deleteIfExists(file);
            file = null;
        }
    }
}
