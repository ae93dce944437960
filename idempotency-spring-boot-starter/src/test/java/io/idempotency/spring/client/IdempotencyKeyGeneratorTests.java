package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencyKeyGeneratorTests {

    private static final int MANY = 20_000;

    static Stream<IdempotencyKeyGenerator> ordered() {
        return Stream.of(
                IdempotencyKeyGenerator.uuidV7(),
                IdempotencyKeyGenerator.tsid(0),
                IdempotencyKeyGenerator.snowflake(1023));
    }

    static Stream<IdempotencyKeyGenerator> all() {
        return Stream.concat(ordered(), Stream.of(IdempotencyKeyGenerator.uuidV4()));
    }

    @ParameterizedTest
    @MethodSource("ordered")
    void keysAreOrderedByTimeAsText(IdempotencyKeyGenerator generator) {
        assertThat(IntStream.range(0, MANY).mapToObj(i -> generator.nextKey()).toList())
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("all")
    void threadsGetKeysOfTheirOwn(IdempotencyKeyGenerator generator) {
        assertThat(IntStream.range(0, MANY).parallel().mapToObj(i -> generator.nextKey()))
                .doesNotHaveDuplicates()
                .allMatch(key -> key.matches("[!-~]{13,36}"));
    }

    @Test
    void nodesGetKeysOfTheirOwn() {
        List<IdempotencyKeyGenerator> nodes =
                Stream.of(1, 2, 3).map(IdempotencyKeyGenerator::tsid).toList();

        assertThat(IntStream.range(0, MANY)
                        .parallel()
                        .mapToObj(i -> nodes.get(i % 3).nextKey()))
                .doesNotHaveDuplicates();
    }

    @Test
    void uuidsHaveTheirVersion() {
        assertThat(UUID.fromString(IdempotencyKeyGenerator.uuidV7().nextKey()).version())
                .isEqualTo(7);
        assertThat(UUID.fromString(IdempotencyKeyGenerator.uuidV4().nextKey()).version())
                .isEqualTo(4);
    }

    @Test
    void aSnowflakeSaysWhenAndWhereItWasMade() {
        long id = Long.parseLong(IdempotencyKeyGenerator.snowflake(613).nextKey());

        assertThat(Instant.ofEpochMilli((id >> 22) + 1_288_834_974_657L))
                .isBetween(
                        Instant.now().minus(Duration.ofMinutes(1)),
                        Instant.now().plus(Duration.ofMinutes(1)));
        assertThat(id >> 12 & 1023).isEqualTo(613);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1024})
    void aNodeThatDoesNotExistIsRefused(int node) {
        assertThatThrownBy(() -> IdempotencyKeyGenerator.tsid(node))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The node number must be from 0 to 1023: " + node);
        assertThatThrownBy(() -> IdempotencyKeyGenerator.snowflake(node)).isInstanceOf(IllegalArgumentException.class);
    }
}
