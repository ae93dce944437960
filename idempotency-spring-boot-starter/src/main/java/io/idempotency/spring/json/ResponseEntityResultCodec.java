package io.idempotency.spring.json;

import io.idempotency.spi.ResultCodec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;

/**
 * Results declared as {@link ResponseEntity}, for methods that are called as beans and not through the filter: status, headers, and
 * the body by the codec of its type. Headers that belong to one caller or one connection are left out.
 *
 * @since 0.1.0
 */
public final class ResponseEntityResultCodec implements ResultCodec {

    private static final Set<String> LEFT_OUT = Set.of(
            "set-cookie",
            "set-cookie2",
            "authorization",
            "www-authenticate",
            "proxy-authenticate",
            "proxy-authorization",
            "connection",
            "keep-alive",
            "transfer-encoding",
            "date");

    private final List<ResultCodec> bodies;

    /**
     * @param bodies the first that supports the type of the body is used
     */
    public ResponseEntityResultCodec(List<ResultCodec> bodies) {
        this.bodies = List.copyOf(bodies);
    }

    @Override
    public String id() {
        return "entity/1";
    }

    @Override
    public boolean supports(Type type) {
        Type body = bodyType(type);
        return body != null && codecOf(body) != null;
    }

    private static @Nullable Type bodyType(Type type) {
        return type instanceof ParameterizedType parameterized && parameterized.getRawType() == ResponseEntity.class
                ? parameterized.getActualTypeArguments()[0]
                : null;
    }

    private @Nullable ResultCodec codecOf(Type body) {
        return bodies.stream().filter(each -> each.supports(body)).findFirst().orElse(null);
    }

    @Override
    public byte[] encode(@Nullable Object value, Type type) {
        Type body = Objects.requireNonNull(bodyType(type));
        ResultCodec codec = Objects.requireNonNull(codecOf(body));
        if (value == null) {
            return new byte[0];
        }
        ResponseEntity<?> entity = (ResponseEntity<?>) value;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(entity.getStatusCode().value());
            for (Header header : headersOf(entity)) {
                out.writeBoolean(true);
                out.writeUTF(header.name());
                out.writeUTF(header.value());
            }
            out.writeBoolean(false);
            out.writeUTF(codec.id());
            out.write(codec.encode(entity.getBody(), body));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    @Override
    public @Nullable Object decode(byte[] payload, Type type) {
        Type body = Objects.requireNonNull(bodyType(type));
        ResultCodec codec = Objects.requireNonNull(codecOf(body));
        if (payload.length == 0) {
            return null;
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            int status = in.readInt();
            HttpHeaders headers = new HttpHeaders();
            while (in.readBoolean()) {
                headers.add(in.readUTF(), in.readUTF());
            }
            String format = in.readUTF();
            if (!format.equals(codec.id())) {
                throw new IllegalArgumentException("The body was written by the codec '" + format + "'");
            }
            return ResponseEntity.status(status).headers(headers).body(codec.decode(in.readAllBytes(), body));
        } catch (IOException e) {
            throw new IllegalArgumentException("The stored entity is truncated", e);
        }
    }

    // HttpHeaders of Spring 6 is a map and that of Spring 7 is none: this method is what both have.
    private static List<Header> headersOf(ResponseEntity<?> entity) {
        List<Header> headers = new ArrayList<>();
        entity.getHeaders().forEach((name, values) -> {
            if (!LEFT_OUT.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> headers.add(new Header(name, value)));
            }
        });
        return headers;
    }

    private record Header(String name, String value) {}
}
