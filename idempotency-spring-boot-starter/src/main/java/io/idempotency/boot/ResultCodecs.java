package io.idempotency.boot;

import io.idempotency.spi.ResultCodec;
import io.idempotency.spring.aop.MethodResults;
import io.idempotency.spring.json.JsonResultCodec;
import io.idempotency.spring.json.JsonValues;
import io.idempotency.spring.json.ResponseEntityResultCodec;
import io.idempotency.support.ByteArrayResultCodec;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * How results are kept: the application's codecs first.
 *
 * @param json null if the application has no Jackson
 */
record ResultCodecs(List<ResultCodec> all, @Nullable JsonValues json) {

    static ResultCodecs of(List<ResultCodec> ofApplication, @Nullable JsonValues json) {
        List<ResultCodec> all = new ArrayList<>(ofApplication);
        all.addAll(List.of(new StringResultCodec(), new ByteArrayResultCodec(), new VoidResultCodec()));
        if (json != null) {
            all.add(new JsonResultCodec(json));
        }
        if (ClassUtils.isPresent("org.springframework.http.ResponseEntity", ResultCodecs.class.getClassLoader())) {
            all.add(ofApplication.size(), new ResponseEntityResultCodec(all));
        }
        return new ResultCodecs(List.copyOf(all), json);
    }

    MethodResults results() {
        return new MethodResults(all, json != null);
    }
}
