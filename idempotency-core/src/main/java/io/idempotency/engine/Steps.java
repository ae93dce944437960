package io.idempotency.engine;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.ResultCodec;
import io.idempotency.support.ByteArrayResultCodec;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.lang.reflect.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a running action with records of their own, so that another attempt resumes after the last finished one. A step's record
 * is kept as long as a result of the operation, counted from the end of the step: it is gone before the result of an action that
 * has finished is, so that a new call under the same key begins anew.
 */
final class Steps {

    static final List<ResultCodec> PLAIN_CODECS =
            List.of(new StringResultCodec(), new ByteArrayResultCodec(), new VoidResultCodec());

    private final LeasedCalls leased;
    private final List<ResultCodec> codecs;

    /**
     * @param codecs the first that supports the declared type is used
     */
    Steps(LeasedCalls leased, List<ResultCodec> codecs) {
        this.leased = leased;
        this.codecs = codecs;
    }

    /**
     * @param key of the step, derived from that of the action
     */
    <T extends @Nullable Object> T run(Call outer, String key, Type type, Action<T, ?> action) throws Throwable {
        ValueType valueType = new ValueType(type, codecOf(outer, type), List.of());
        ActionWork<T> work = new ActionWork<>(action, outer.operation(), valueType, true);
        Call call = new Call(settings(outer), "step", key, Fingerprint.NONE);
        Completion completion = leased.execute(call, work);
        return completion instanceof Completion.Replayed replayed
                ? ValueCalls.<T>decode(call, valueType, replayed.result())
                : work.value();
    }

    // What an exception means is a matter of the action: a step that has thrown is not finished.
    private static OperationSettings settings(Call outer) {
        OperationSettings of = outer.settings();
        Guarantee guarantee = of.guarantee();
        return OperationSettings.of(of.operation(), guarantee)
                .lease(of.lease())
                .maxExecution(of.maxExecution())
                .retention(of.retention())
                .waitAtMost(of.waitAtMost())
                .outcomePolicy(of.outcomePolicy())
                .build();
    }

    private ResultCodec codecOf(Call outer, Type type) {
        return codecs.stream()
                .filter(codec -> codec.supports(type))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No ResultCodec supports the result type "
                        + type.getTypeName() + " of a step of operation " + outer.operation()));
    }
}
