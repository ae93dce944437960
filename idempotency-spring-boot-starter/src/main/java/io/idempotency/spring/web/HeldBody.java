package io.idempotency.spring.web;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import org.jspecify.annotations.Nullable;

/**
 * A body between the handler that writes it and the response that is to get it: held back, until it is sent or a {@link Passage} lets
 * it pass. What is written after its end is ignored, as a container does it.
 */
final class HeldBody implements AutoCloseable {

    private final HttpServletResponse real;
    private final BodyBuffer buffer;
    private @Nullable EncodingWriter writer;
    private @Nullable Passage passage;
    private boolean passing;
    private boolean committed;
    private boolean ended;
    private boolean silenced;

    HeldBody(HttpServletResponse real, BodyBuffer buffer) {
        this.real = real;
        this.buffer = buffer;
    }

    ServletOutputStream newStream() {
        return new HeldStream();
    }

    Writer newWriter(String encoding) throws IOException {
        EncodingWriter created = new EncodingWriter(encoding);
        writer = created;
        return created;
    }

    /** Its next writer will be another one. */
    void forgetWriter() {
        writer = null;
    }

    /** From now on the body may pass. */
    void passBy(Passage through) {
        passage = through;
    }

    /** From now on whatever is written is refused. */
    void silence() {
        silenced = true;
        committed = true;
        ended = true;
    }

    /** Whether the handler may not change the response any more. */
    boolean isCommitted() {
        return committed;
    }

    /** Whether it goes to the client as it is written. */
    boolean isPassing() {
        return passing;
    }

    /** Whether nothing of it is held back. */
    boolean isEmpty() {
        return buffer.size() == 0;
    }

    /** Whether something was written that could not be held back. */
    boolean isIncomplete() {
        return buffer.isIncomplete();
    }

    /** Whether all of it is here and fits into a record. */
    boolean isWhole() {
        return buffer.isSmall() && !buffer.isIncomplete() && !passing;
    }

    byte[] toByteArray() {
        return buffer.toByteArray();
    }

    void writeTo(OutputStream out) throws IOException {
        buffer.writeTo(out);
    }

    /** Takes over what the writer has not encoded yet. */
    void drain() {
        if (writer != null) {
            writer.drain();
        }
    }

    /** What a flush means where nothing may be sent: the response counts as committed. */
    void flush() throws IOException {
        drain();
        if (!ended && passage != null && passage.isStream()) {
            pass(passage);
        }
        committed = true;
        if (passing) {
            real.flushBuffer();
        }
    }

    void end() {
        drain();
        committed = true;
        ended = true;
    }

    /** Forgets what was written. */
    void clear() {
        try {
            buffer.reset();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (writer != null) {
            writer.restart();
        }
    }

    /** Forgets what was written and that it had ended. */
    void restart() {
        clear();
        committed = false;
        ended = false;
    }

    @Override
    public void close() throws IOException {
        buffer.close();
    }

    private void accept(byte[] bytes, int offset, int length) throws IOException {
        if (silenced) {
            throw new IOException("The client has got another answer");
        }
        if (ended) {
            return;
        }
        if (passage != null && !passing && (buffer.wouldOverflow(length) || passage.isStream())) {
            pass(passage);
        }
        if (passing) {
            real.getOutputStream().write(bytes, offset, length);
        } else {
            buffer.write(bytes, offset, length);
        }
    }

    private void pass(Passage through) throws IOException {
        if (passing) {
            return;
        }
        through.open();
        passing = true;
        committed = true;
        buffer.writeTo(real.getOutputStream());
        buffer.reset();
    }

    private final class HeldStream extends ServletOutputStream {

        @Override
        public boolean isReady() {
            return true;
        }

        // A buffer is always ready, so that once is enough.
        @Override
        public void setWriteListener(WriteListener listener) {
            if (passage == null) {
                throw new IllegalStateException("This response is not asynchronous");
            }
            try {
                listener.onWritePossible();
            } catch (IOException e) {
                listener.onError(e);
            }
        }

        @Override
        public void write(int each) throws IOException {
            accept(new byte[] {(byte) each}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            accept(bytes, offset, length);
        }

        @Override
        public void flush() throws IOException {
            HeldBody.this.flush();
        }

        @Override
        public void close() {
            end();
        }
    }

    /** Below the print writer: encodes, and starts anew after a reset, so that a byte order mark is not lost. */
    private final class EncodingWriter extends Writer {

        private final String encoding;
        private OutputStreamWriter out;

        EncodingWriter(String encoding) throws IOException {
            this.encoding = encoding;
            this.out = new OutputStreamWriter(new Encoded(), encoding);
        }

        @Override
        public void write(char[] chars, int offset, int length) throws IOException {
            if (!ended) {
                out.write(chars, offset, length);
            }
        }

        @Override
        public void write(String chars, int offset, int length) throws IOException {
            if (!ended) {
                out.write(chars, offset, length);
            }
        }

        void drain() {
            try {
                out.flush();
            } catch (IOException e) {
                // The body has noted that it is incomplete, or has passed.
            }
        }

        void restart() {
            try {
                out = new OutputStreamWriter(new Encoded(), encoding);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void flush() throws IOException {
            HeldBody.this.flush();
        }

        @Override
        public void close() {
            end();
        }

        /** What is encoded, without the flushes of the encoder. */
        private final class Encoded extends OutputStream {

            @Override
            public void write(int each) throws IOException {
                accept(new byte[] {(byte) each}, 0, 1);
            }

            @Override
            public void write(byte[] encoded, int offset, int length) throws IOException {
                accept(encoded, offset, length);
            }
        }
    }
}
