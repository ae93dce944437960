package io.idempotency.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.spi.ResultCodec;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResultCodecTests {

    // They stand in records that are kept.
    @Test
    void namesStayAsTheyAre() {
        assertThat(List.of(new StringResultCodec(), new ByteArrayResultCodec(), new VoidResultCodec()))
                .extracting(ResultCodec::id)
                .containsExactly("string", "bytes", "void");
    }

    @Nested
    class Text {

        private final ResultCodec codec = new StringResultCodec();

        @ParameterizedTest
        @NullSource
        @ValueSource(strings = {"", "text", "\u0000", "ünïcode \ud83d\ude00", "unpaired \ud800", "\udc00 unpaired"})
        void comesBackAsItWas(String text) {
            assertThat(codec.decode(codec.encode(text, String.class), String.class))
                    .isEqualTo(text);
        }

        @Test
        void onlyStringsAreSupported() {
            assertThat(codec.supports(String.class)).isTrue();
            assertThat(codec.supports(CharSequence.class)).isFalse();
            assertThat(codec.supports(Object.class)).isFalse();
        }

        @Test
        void anythingElseIsUnreadable() {
            for (byte[] payload : List.of(
                    new byte[0], new byte[] {0, 0}, new byte[] {3}, new byte[] {1, (byte) 0xff}, new byte[] {2, 0})) {
                assertThatIllegalArgumentException().isThrownBy(() -> codec.decode(payload, String.class));
            }
        }
    }

    @Nested
    class Bytes {

        private final ResultCodec codec = new ByteArrayResultCodec();

        @Test
        void comeBackAsTheyWere() {
            for (byte[] bytes : List.of(new byte[0], new byte[] {0}, new byte[] {1, -1, 0})) {
                assertThat((byte[]) codec.decode(codec.encode(bytes, byte[].class), byte[].class))
                        .isEqualTo(bytes);
            }
            assertThat(codec.decode(codec.encode(null, byte[].class), byte[].class))
                    .isNull();
        }

        @Test
        void onlyByteArraysAreSupported() {
            assertThat(codec.supports(byte[].class)).isTrue();
            assertThat(codec.supports(Byte[].class)).isFalse();
        }

        @Test
        void anythingElseIsUnreadable() {
            for (byte[] payload : List.of(new byte[0], new byte[] {0, 0}, new byte[] {2})) {
                assertThatIllegalArgumentException().isThrownBy(() -> codec.decode(payload, byte[].class));
            }
        }
    }

    @Nested
    class Nothing {

        private final ResultCodec codec = new VoidResultCodec();

        @Test
        void comesBackAsNull() {
            assertThat(codec.encode(null, void.class)).isEmpty();
            assertThat(codec.decode(new byte[0], Void.class)).isNull();
        }

        @Test
        void bothSpellingsAreSupported() {
            assertThat(codec.supports(void.class)).isTrue();
            assertThat(codec.supports(Void.class)).isTrue();
            assertThat(codec.supports(String.class)).isFalse();
        }

        @Test
        void anythingElseIsUnreadable() {
            assertThatIllegalArgumentException().isThrownBy(() -> codec.decode(new byte[1], void.class));
        }
    }
}
