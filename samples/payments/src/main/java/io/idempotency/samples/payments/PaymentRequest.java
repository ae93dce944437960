package io.idempotency.samples.payments;

import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;

/** What a client asks for. */
public record PaymentRequest(
        @NotBlank @Size(max = 64) String account,

        @NotNull @Positive @Digits(integer = 17, fraction = 2)
        BigDecimal amount,

        @NotNull @Pattern(regexp = "[A-Z]{3}") String currency) {}
