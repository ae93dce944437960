package io.idempotency.samples.orders.order;

import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;

/** What a client asks for. */
public record OrderRequest(
        @NotBlank @Size(max = 64) String customer,

        @NotNull @Positive @Digits(integer = 17, fraction = 2)
        BigDecimal amount) {}
