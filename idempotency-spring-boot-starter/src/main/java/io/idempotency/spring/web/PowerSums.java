package io.idempotency.spring.web;

import java.nio.ByteBuffer;
import java.util.Base64;

/**
 * The sums of the odd powers of a set of numbers, in the field of 2<sup>24</sup> elements. Added to those of another set they are the
 * sums of what is in one of both alone, because equal numbers cancel out, and up to eight such numbers can be recognised then: the
 * decoding of BCH codes (Berlekamp and Massey), used for sets as in PinSketch.
 */
final class PowerSums {

    /** Characters of {@link #asText()}. */
    static final int LENGTH = 32;

    private static final int MOST = 8;
    private static final int FIELD = 0xffffff;

    // x^24 + x^4 + x^3 + x + 1, without the first term.
    private static final int REDUCTION = 0x1b;

    private final int[] sums = new int[MOST];

    /** Reads {@link #asText()} back. */
    static PowerSums parse(String text) {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
        PowerSums read = new PowerSums();
        for (int i = 0; i < MOST; i++) {
            read.sums[i] = (Byte.toUnsignedInt(bytes.get()) << 16) | Short.toUnsignedInt(bytes.getShort());
        }
        return read;
    }

    String asText() {
        ByteBuffer bytes = ByteBuffer.allocate(3 * MOST);
        for (int sum : sums) {
            bytes.put((byte) (sum >> 16)).putShort((short) sum);
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
    }

    /** @param number of which the lower 24 bits count */
    void add(int number) {
        int power = inField(number);
        int square = times(power, power);
        for (int i = 0; i < MOST; i++) {
            sums[i] ^= power;
            power = times(power, square);
        }
    }

    // Zero would leave no trace.
    private static int inField(int number) {
        return Math.max(1, number & FIELD);
    }

    /** What is in one of the two sets alone. */
    Difference to(PowerSums other) {
        // The sum of the even powers is that of the powers half as high, squared.
        int[] all = new int[2 * MOST];
        for (int power = 1; power <= all.length; power++) {
            int half = power % 2 == 0 ? all[power / 2 - 1] : 0;
            all[power - 1] = power % 2 == 0 ? times(half, half) : sums[power / 2] ^ other.sums[power / 2];
        }
        return new Difference(all);
    }

    private static int times(int one, int other) {
        int product = 0;
        int shifted = one;
        for (int left = other; left != 0; left >>= 1) {
            product ^= shifted & -(left & 1);
            shifted = ((shifted << 1) & FIELD) ^ (REDUCTION & -(shifted >> 23));
        }
        return product;
    }

    // To the power of 2^24 - 2.
    private static int inverse(int number) {
        int inverse = 1;
        int square = number;
        for (int i = 1; i < 24; i++) {
            square = times(square, square);
            inverse = times(inverse, square);
        }
        return inverse;
    }

    /** The polynomial that is zero at the numbers which are in one of two sets alone, if those are not too many. */
    static final class Difference {

        private final int[] coefficients;
        private final int degree;

        // The shortest recurrence of the sums.
        private Difference(int[] sums) {
            int[] current = new int[sums.length + 1];
            int[] earlier = new int[sums.length + 1];
            current[0] = 1;
            earlier[0] = 1;
            int length = 0;
            int gap = 1;
            int earlierError = 1;
            for (int n = 0; n < sums.length; n++) {
                int error = sums[n];
                for (int i = 1; i <= length; i++) {
                    error ^= times(current[i], sums[n - i]);
                }
                if (error == 0) {
                    gap++;
                    continue;
                }
                int[] corrected = current.clone();
                int factor = times(error, inverse(earlierError));
                for (int i = gap; i < corrected.length; i++) {
                    corrected[i] ^= times(factor, earlier[i - gap]);
                }
                if (2 * length <= n) {
                    length = n + 1 - length;
                    earlier = current;
                    earlierError = error;
                    gap = 1;
                } else {
                    gap++;
                }
                current = corrected;
            }
            coefficients = current;
            degree = length;
        }

        /** Whether a number of one of the sets is not in the other; false for all of them where too many are not. */
        boolean contains(int number) {
            if (degree > MOST) {
                return false;
            }
            int at = inField(number);
            int value = 0;
            for (int i = 0; i <= degree; i++) {
                value = times(value, at) ^ coefficients[i];
            }
            return value == 0;
        }
    }
}
