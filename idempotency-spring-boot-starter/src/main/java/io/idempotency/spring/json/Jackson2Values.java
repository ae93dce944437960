package io.idempotency.spring.json;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;

/**
 * Values on Jackson 2.
 *
 * @since 0.1.0
 */
public final class Jackson2Values implements JsonValues {

    private static final String[] KNOWN_MODULES = {
        "com.fasterxml.jackson.datatype.jdk8.Jdk8Module",
        "com.fasterxml.jackson.module.paramnames.ParameterNamesModule",
        "com.fasterxml.jackson.module.kotlin.KotlinModule"
    };
    private static final String TIME_MODULE = "com.fasterxml.jackson.datatype.jsr310.JavaTimeModule";

    private final JsonMapper mapper;

    /**
     * @param modules the application's modules, which know how its types are written
     */
    public Jackson2Values(Collection<? extends Module> modules) {
        JsonMapper.Builder builder = JsonMapper.builder()
                .enable(
                        MapperFeature.SORT_PROPERTIES_ALPHABETICALLY,
                        MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS,
                        MapperFeature.USE_GETTERS_AS_SETTERS,
                        MapperFeature.DEFAULT_VIEW_INCLUSION)
                .disable(MapperFeature.SORT_CREATOR_PROPERTIES_FIRST)
                .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
                .disable(
                        SerializationFeature.WRITE_DATES_AS_TIMESTAMPS,
                        SerializationFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE,
                        SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
                        SerializationFeature.WRITE_ENUMS_USING_TO_STRING,
                        SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(
                        DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE,
                        DeserializationFeature.READ_ENUMS_USING_TO_STRING,
                        DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                        DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .disable(JsonParser.Feature.AUTO_CLOSE_SOURCE)
                .defaultPropertyInclusion(
                        JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS))
                .defaultLocale(Locale.ROOT);
        addKnownModules(builder);
        modules.forEach(builder::addModule);
        mapper = builder.build();
    }

    private static void addKnownModules(JsonMapper.Builder builder) {
        ClassLoader classLoader = Jackson2Values.class.getClassLoader();
        for (String name : KNOWN_MODULES) {
            if (ClassUtils.isPresent(name, classLoader)) {
                builder.addModule((Module) BeanUtils.instantiateClass(ClassUtils.resolveClassName(name, classLoader)));
            }
        }
        if (ClassUtils.isPresent(TIME_MODULE, classLoader)) {
            builder.addModule(Jackson2Time.module());
        }
    }

    @Override
    public byte[] write(@Nullable Object value, Type type) {
        try {
            return mapper.writerFor(mapper.constructType(type)).writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public byte[] write(@Nullable Object value) {
        try {
            return mapper.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public @Nullable Object read(byte[] json, Type type) {
        try {
            return mapper.readValue(json, mapper.constructType(type));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
