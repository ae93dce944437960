package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PowerSumsTests {

    private final Random random = new Random(94);

    private static PowerSums of(Iterable<Integer> numbers) {
        PowerSums sums = new PowerSums();
        numbers.forEach(sums::add);
        return sums;
    }

    private List<Integer> numbers(int count) {
        Set<Integer> numbers = new LinkedHashSet<>();
        while (numbers.size() < count) {
            numbers.add(1 + random.nextInt(0xffffff));
        }
        return new ArrayList<>(numbers);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
    void findExactlyWhatIsInOneSetAlone(int alone) {
        for (int round = 0; round < 50; round++) {
            List<Integer> all = numbers(60);
            int ofOne = random.nextInt(alone + 1);
            List<Integer> one = new ArrayList<>(all.subList(alone, 60));
            List<Integer> other = new ArrayList<>(one);
            one.addAll(all.subList(0, ofOne));
            other.addAll(all.subList(ofOne, alone));

            PowerSums.Difference difference =
                    of(one).to(PowerSums.parse(of(other).asText()));

            assertThat(all.stream().filter(difference::contains))
                    .containsExactlyInAnyOrderElementsOf(all.subList(0, alone));
        }
    }

    @Test
    void claimNothingWhereTooMuchDiffers() {
        for (int round = 0; round < 200; round++) {
            List<Integer> all = numbers(60);

            PowerSums.Difference difference = of(all.subList(0, 40)).to(of(all.subList(9 + random.nextInt(20), 60)));

            assertThat(all).noneMatch(difference::contains);
        }
    }

    @Test
    void havePlaceForEveryNumber() {
        for (int number : new int[] {0, 1, 0xffffff, -1, Integer.MIN_VALUE}) {
            PowerSums.Difference difference = of(List.of(number)).to(of(List.of()));

            assertThat(difference.contains(number)).isTrue();
            assertThat(difference.contains(0x123456)).isFalse();
            assertThat(of(List.of(number)).asText()).hasSize(PowerSums.LENGTH);
        }
    }
}
