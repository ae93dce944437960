package io.idempotency.spring.json;

import java.io.Closeable;
import java.lang.annotation.Annotation;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.Deque;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Spliterator;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Says which declared types can come back from JSON as what they were.
 *
 * @since 0.1.0
 */
public final class ResultTypes {

    private static final Set<Class<?>> ABSTRACT_AND_KNOWN = Set.of(
            Collection.class,
            List.class,
            Set.class,
            SortedSet.class,
            NavigableSet.class,
            Queue.class,
            Deque.class,
            Map.class,
            SortedMap.class,
            NavigableMap.class,
            ConcurrentMap.class);
    private static final Set<Class<?>> KEYS = Set.of(String.class, UUID.class, BigDecimal.class, BigInteger.class);
    private static final List<Class<?>> CONSUMED_ONCE = List.of(
            BaseStream.class,
            Iterator.class,
            Spliterator.class,
            Enumeration.class,
            Closeable.class,
            Readable.class,
            Runnable.class,
            Callable.class);
    private static final List<Class<?>> LATER = List.of(CompletionStage.class, Future.class, Flow.Publisher.class);
    private static final Set<String> LATER_BY_NAME =
            Set.of("org.reactivestreams.Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Deferred");
    private static final Set<String> RESOURCES =
            Set.of("org.springframework.core.io.InputStreamSource", "jakarta.servlet.ServletResponse");
    private static final Set<String> TYPE_INFORMATION = Set.of(
            "com.fasterxml.jackson.annotation.JsonTypeInfo",
            "com.fasterxml.jackson.databind.annotation.JsonDeserialize",
            "tools.jackson.databind.annotation.JsonDeserialize");
    private static final Set<String> TREES =
            Set.of("com.fasterxml.jackson.databind.JsonNode", "tools.jackson.databind.JsonNode");

    private ResultTypes() {}

    /** Why a result of this type cannot be kept; null if it can. The text completes the sentence "the type …". */
    public static @Nullable String objectionTo(Type type) {
        if (type instanceof Class<?> plain) {
            return plain.isArray() ? objectionTo(plain.getComponentType()) : ofClass(plain, false);
        }
        if (type instanceof ParameterizedType parameterized) {
            return ofParameterized(parameterized);
        }
        if (type instanceof GenericArrayType array) {
            return objectionTo(array.getGenericComponentType());
        }
        if (type instanceof WildcardType || type instanceof TypeVariable) {
            return type.getTypeName() + " does not say what it is";
        }
        return type.getTypeName() + " is of an unknown kind";
    }

    private static @Nullable String ofParameterized(ParameterizedType type) {
        Class<?> raw = (Class<?>) type.getRawType();
        String objection = ofClass(raw, true);
        if (objection != null) {
            return objection;
        }
        Type[] arguments = type.getActualTypeArguments();
        if (Map.class.isAssignableFrom(raw) && arguments.length == 2) {
            objection = ofKey(arguments[0]);
            if (objection != null) {
                return objection;
            }
        }
        for (Type argument : arguments) {
            objection = objectionTo(argument);
            if (objection != null) {
                return objection;
            }
        }
        return null;
    }

    private static @Nullable String ofKey(Type type) {
        boolean simple = type instanceof Class<?> plain
                && (KEYS.contains(plain)
                        || plain.isEnum()
                        || ClassUtils.isPrimitiveOrWrapper(plain)
                        || plain.getName().startsWith("java.time."));
        return simple ? null : type.getTypeName() + " as the key of a map cannot be read back from JSON";
    }

    private static @Nullable String ofClass(Class<?> type, boolean withArguments) {
        if (type.isPrimitive() || type.isEnum()) {
            return null;
        }
        if (type == Object.class) {
            return "Object does not say what it is";
        }
        if (isAny(CONSUMED_ONCE, RESOURCES, type)) {
            return type.getName() + " can be consumed only once";
        }
        if (isAny(LATER, LATER_BY_NAME, type)) {
            return type.getName() + " is no value but a promise of one";
        }
        if (!withArguments && type.getTypeParameters().length > 0 && !isTree(type)) {
            return type.getName() + " does not say of what it is: its type arguments are missing";
        }
        if (isAbstract(type) && !ABSTRACT_AND_KNOWN.contains(type) && !isTree(type) && !hasTypeInformation(type)) {
            return type.getName() + " is abstract and has no type information (@JsonTypeInfo)";
        }
        return null;
    }

    private static boolean isAbstract(Class<?> type) {
        return Modifier.isAbstract(type.getModifiers())
                && !type.getName().startsWith("java.time.")
                && type != Optional.class
                && type != OptionalInt.class
                && type != OptionalLong.class
                && type != OptionalDouble.class;
    }

    private static boolean isAny(List<Class<?>> types, Set<String> names, Class<?> type) {
        return types.stream().anyMatch(each -> each.isAssignableFrom(type)) || supertypes(type, names);
    }

    private static boolean isTree(Class<?> type) {
        return supertypes(type, TREES);
    }

    private static boolean supertypes(Class<?> type, Set<String> names) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (names.contains(each.getName())) {
                return true;
            }
        }
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                .anyMatch(each -> names.contains(each.getName()) || supertypesOfInterface(each, names));
    }

    private static boolean supertypesOfInterface(Class<?> type, Set<String> names) {
        for (Class<?> each : type.getInterfaces()) {
            if (names.contains(each.getName()) || supertypesOfInterface(each, names)) {
                return true;
            }
        }
        return false;
    }

    // By name: an application has one Jackson, and the annotations of the other are not there.
    private static boolean hasTypeInformation(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Annotation annotation : each.getAnnotations()) {
                if (TYPE_INFORMATION.contains(annotation.annotationType().getName())) {
                    return true;
                }
            }
        }
        for (Class<?> each : ClassUtils.getAllInterfacesForClass(type)) {
            if (each != type && hasTypeInformation(each)) {
                return true;
            }
        }
        return false;
    }
}
