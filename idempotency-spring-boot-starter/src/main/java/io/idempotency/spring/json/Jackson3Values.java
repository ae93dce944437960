package io.idempotency.spring.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Values on Jackson 3.
 *
 * @since 0.1.0
 */
public final class Jackson3Values implements JsonValues {

    private static final String KOTLIN_MODULE = "tools.jackson.module.kotlin.KotlinModule";

    private final JsonMapper mapper;

    /**
     * @param modules the application's modules, which know how its types are written
     */
    public Jackson3Values(Collection<? extends JacksonModule> modules) {
        JsonMapper.Builder builder = JsonMapper.builder()
                .enable(
                        MapperFeature.SORT_PROPERTIES_ALPHABETICALLY,
                        MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS,
                        MapperFeature.USE_GETTERS_AS_SETTERS,
                        MapperFeature.DEFAULT_VIEW_INCLUSION)
                .disable(MapperFeature.SORT_CREATOR_PROPERTIES_FIRST)
                .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
                .disable(
                        DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS,
                        DateTimeFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE,
                        DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
                        DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE,
                        DateTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID)
                .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
                .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(
                        DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                        DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .changeDefaultPropertyInclusion(
                        ignored -> JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS))
                .defaultLocale(Locale.ROOT);
        ClassLoader classLoader = Jackson3Values.class.getClassLoader();
        if (ClassUtils.isPresent(KOTLIN_MODULE, classLoader)) {
            builder.addModule((JacksonModule)
                    BeanUtils.instantiateClass(ClassUtils.resolveClassName(KOTLIN_MODULE, classLoader)));
        }
        modules.forEach(builder::addModule);
        mapper = builder.build();
    }

    @Override
    public byte[] write(@Nullable Object value, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsBytes(value);
    }

    @Override
    public byte[] write(@Nullable Object value) {
        return mapper.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).writeValueAsBytes(value);
    }

    @Override
    public @Nullable Object read(byte[] json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }
}
