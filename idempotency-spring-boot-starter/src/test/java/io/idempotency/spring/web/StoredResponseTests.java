package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.spi.StoredResult;
import io.idempotency.spi.StoredResult.Kind;
import io.idempotency.spring.web.StoredResponse.Form;
import io.idempotency.spring.web.StoredResponse.Header;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StoredResponseTests {

    private static StoredResponse response(Form form, String text, byte[] body) {
        return new StoredResponse(
                form,
                201,
                text,
                "text/plain;charset=UTF-8",
                List.of(new Header("Link", "</a>"), new Header("Link", "</\u00e9>")),
                body);
    }

    @ParameterizedTest
    @EnumSource
    void readsBackWhatItWrites(Form form) {
        StoredResponse written = response(form, form == Form.PLAIN ? null : "text", new byte[] {0, 1, -1});
        StoredResponse read =
                StoredResponse.read(StoredResult.fromBytes(written.asValue().toBytes()));

        assertThat(read).usingRecursiveComparison().isEqualTo(written);
    }

    /** The stored form is data of other processes and later versions: it must not change by accident. */
    @Test
    void keepsItsForm() {
        StoredResult stored = new StoredResponse(
                        Form.PLAIN, 201, null, "a/b", List.of(new Header("ETag", "1")), new byte[] {7})
                .asValue();

        assertThat(stored.format()).isEqualTo("http/1");
        assertThat(HexFormat.of().formatHex(stored.payload()))
                .isEqualTo("01" + "00" + "00c9" + "ffffffff" + "00000003612f62" + "0001" + "0000000445546167"
                        + "0000000131" + "0000000107");
    }

    @Test
    void knowsTheLocationOfARedirect() {
        assertThat(response(Form.REDIRECT, "/there", new byte[0]).header("location"))
                .isEqualTo("/there");
        assertThat(response(Form.PLAIN, null, new byte[0]).header("Location")).isNull();
        assertThat(response(Form.PLAIN, null, new byte[0]).asNotReplayable().kind())
                .isEqualTo(Kind.NOT_REPLAYABLE);
    }

    @Test
    void refusesWhateverIsNotAWholeResponse() {
        byte[] whole = response(Form.PLAIN, null, "body".getBytes(StandardCharsets.US_ASCII))
                .asValue()
                .payload();
        for (int length = 0; length < whole.length; length++) {
            StoredResult cut = StoredResult.value("http/1", Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> StoredResponse.read(cut)).isInstanceOf(IllegalArgumentException.class);
        }
        // And costs no memory that it only claims to need.
        byte[] huge = Arrays.copyOf(whole, whole.length - 8);
        ByteBuffer claim = ByteBuffer.allocate(huge.length + 4).put(huge).putInt(Integer.MAX_VALUE);
        assertThatThrownBy(() -> StoredResponse.read(StoredResult.value("http/1", claim.array())))
                .isInstanceOf(IllegalArgumentException.class);
        StoredResult longer = StoredResult.value("http/1", Arrays.copyOf(whole, whole.length + 1));
        assertThatThrownBy(() -> StoredResponse.read(longer)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void failsInNoOtherWayOnAnyBytes() {
        Random random = new Random(1);
        byte[] whole = response(Form.PLAIN, null, "body".getBytes(StandardCharsets.US_ASCII))
                .asValue()
                .payload();
        for (int i = 0; i < 20_000; i++) {
            byte[] broken = whole.clone();
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            }
            try {
                StoredResponse.read(StoredResult.value("http/1", broken));
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).doesNotContain("body", "text/plain");
            }
        }
    }

    @Test
    void refusesOtherFormatsAndVersions() {
        assertThatThrownBy(() -> StoredResponse.read(StoredResult.value("json", new byte[0])))
                .hasMessageContaining("unknown format");
        assertThatThrownBy(() -> StoredResponse.read(StoredResult.value("http/1", new byte[] {2, 0, 0, 0})))
                .hasMessageContaining("unknown version");
    }

    /** Case 126, and headers that would split a response. */
    @Test
    void refusesHeadersThatWouldBreakAResponse() {
        StoredResult split = new StoredResponse(
                        Form.PLAIN, 200, null, null, List.of(new Header("Link", "a\r\nSet-Cookie: b")), new byte[0])
                .asValue();

        assertThatThrownBy(() -> StoredResponse.read(split)).hasMessageContaining("impossible header");
    }
}
