package io.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method idempotent: a retry, a double click or a redelivered message with the same key does not repeat the work but gets
 * the first result.
 *
 * <p>Every attribute has an unset value (empty text, {@code DEFAULT}, {@code AUTO}) that falls through to the configuration.
 * Precedence: {@code idempotency.operations.<name>.*}, then this annotation, then the global property. Durations are text with a
 * unit ({@code 24h}, {@code PT5S}, {@code ${placeholder}}); what cannot be read fails at start and names the method.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
public @interface Idempotent {

    /**
     * Name of the operation: {@code [a-z0-9-]+}. Unset: simple class name and method name in kebab case, for example
     * {@code payment-controller-pay}. Two methods that name the same operation share its records.
     */
    String operation() default "";

    /** Key as a SpEL expression over the parameters. Unset: the ambient key, for HTTP the header {@code Idempotency-Key}. */
    String key() default "";

    /** Fingerprint as a SpEL expression over the parameters. Unset: the whole payload by {@link #fingerprintScheme()}. */
    String fingerprint() default "";

    /** How payloads under the same key are compared. */
    FingerprintScheme fingerprintScheme() default FingerprintScheme.DEFAULT;

    /** What holds when the process crashes at any point. */
    Guarantee guarantee() default Guarantee.AUTO;

    /** How long a finished result is kept, counted from its completion. */
    String retention() default "";

    /** How long a vanished owner blocks its key; renewed while the action runs. Not used by {@link Guarantee#EXACTLY_ONCE}. */
    String lease() default "";

    /** How long the lease of a running action is renewed. The action itself is not interrupted. */
    String maxExecution() default "";

    /** How long a duplicate waits for the first call before it is refused as in progress. */
    String waitAtMost() default "";

    /** Whether a call without a key is refused; otherwise it runs unprotected. */
    Toggle required() default Toggle.DEFAULT;

    /** What the duplicate of a finished call gets. */
    OnDuplicate onDuplicate() default OnDuplicate.DEFAULT;

    /** Exceptions that are the final result of the operation: they are stored, and duplicates get them. */
    Class<? extends Throwable>[] storeFailures() default {};

    /** Exceptions that prove that nothing happened: the key is free again at once. */
    Class<? extends Throwable>[] releaseFailures() default {};

    /** Whether the result is kept; otherwise only the fact, and duplicates learn that it was done. */
    Toggle storeResult() default Toggle.DEFAULT;
}
