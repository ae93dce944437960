package io.idempotency.spring.aop;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.util.ClassUtils;

/**
 * A SpEL expression over the arguments of one method, parsed once and compiled when it is used often. It reads: types, beans,
 * constructors and assignments are not there. Parameters are named ({@code #order}) or numbered ({@code #p0}, {@code #a0}).
 *
 * <p>Thread-safe.
 *
 * @since 0.1.0
 */
public final class ArgumentExpression {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final DataBindingPropertyAccessor PROPERTIES = DataBindingPropertyAccessor.forReadOnlyAccess();
    private static final DataBindingMethodResolver METHODS = DataBindingMethodResolver.forInstanceMethodInvocation();
    private static final Set<Class<?>> NOT_THERE = Set.of(
            TypeReference.class,
            BeanReference.class,
            ConstructorReference.class,
            FunctionReference.class,
            Assign.class,
            OpInc.class,
            OpDec.class);

    private final SpelExpression expression;
    private final Map<String, Integer> variables;

    private ArgumentExpression(SpelExpression expression, Map<String, Integer> variables) {
        this.expression = expression;
        this.variables = variables;
    }

    /**
     * Parses an expression and checks it against the method.
     *
     * @param targetClass class of the bean, whose interfaces may name the parameters as well
     * @throws IllegalArgumentException if the expression can never have a value; the message completes the sentence "the
     *     expression …"
     */
    public static ArgumentExpression parse(String text, Method method, Class<?> targetClass) {
        SpelParserConfiguration configuration =
                new SpelParserConfiguration(SpelCompilerMode.MIXED, targetClass.getClassLoader());
        SpelExpression expression;
        try {
            expression = new SpelExpressionParser(configuration).parseRaw(text);
        } catch (ParseException | IllegalStateException e) {
            throw new IllegalArgumentException("is no SpEL: " + e.getMessage(), e);
        }
        Map<String, Integer> parameters = parametersOf(method, targetClass);
        Check check = new Check(parameters, method, targetClass);
        check.visit(expression.getAST(), false);
        Map<String, Integer> used = new LinkedHashMap<>(parameters);
        used.keySet().retainAll(check.used);
        return new ArgumentExpression(expression, Map.copyOf(used));
    }

    // The annotation may stand on an interface whose parameters have other names.
    private static Map<String, Integer> parametersOf(Method method, Class<?> targetClass) {
        Map<String, Integer> names = new LinkedHashMap<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            names.put("p" + i, i);
            names.put("a" + i, i);
        }
        addNames(names, method);
        List<Class<?>> types = new ArrayList<>(Arrays.asList(ClassUtils.getAllInterfacesForClass(targetClass)));
        for (Class<?> type = targetClass.getSuperclass(); type != null; type = type.getSuperclass()) {
            types.add(type);
        }
        for (Class<?> type : types) {
            Arrays.stream(type.getDeclaredMethods())
                    .filter(each -> each.getName().equals(method.getName())
                            && each.getParameterCount() == method.getParameterCount()
                            && !each.isBridge()
                            && !Modifier.isStatic(each.getModifiers()))
                    .forEach(each -> addNames(names, each));
        }
        return names;
    }

    private static void addNames(Map<String, Integer> names, Method method) {
        @Nullable String @Nullable [] found = NAMES.getParameterNames(method);
        for (int i = 0; found != null && i < found.length; i++) {
            String name = found[i];
            if (name != null) {
                names.putIfAbsent(name, i);
            }
        }
    }

    /**
     * The value for these arguments; null also where a part of a path is null.
     *
     * @throws org.springframework.expression.EvaluationException if a path leads nowhere
     */
    public @Nullable Object valueOf(@Nullable Object[] arguments) {
        EvaluationContext context = SimpleEvaluationContext.forPropertyAccessors(PROPERTIES)
                .withMethodResolvers(METHODS)
                .withAssignmentDisabled()
                .build();
        variables.forEach((name, index) -> context.setVariable(name, arguments[index]));
        try {
            return expression.getValue(context);
        } catch (SpelEvaluationException e) {
            if (isOfNull(e)) {
                return null;
            }
            throw e;
        }
    }

    private static boolean isOfNull(SpelEvaluationException failure) {
        return failure.getMessageCode() == SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL
                || failure.getMessageCode() == SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED
                || failure.getMessageCode() == SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE;
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }

    /** Looks at an expression before anybody depends on it. */
    private static final class Check {

        private final Map<String, Integer> parameters;
        private final Method method;
        private final Class<?> targetClass;
        private final Set<String> used = new TreeSet<>();

        private Check(Map<String, Integer> parameters, Method method, Class<?> targetClass) {
            this.parameters = parameters;
            this.method = method;
            this.targetClass = targetClass;
        }

        /** @param inElement whether names belong to the elements of a collection */
        private void visit(SpelNode node, boolean inElement) {
            if (NOT_THERE.contains(node.getClass())) {
                throw new IllegalArgumentException(
                        "uses " + node.toStringAST()
                                + ", and keys and fingerprints are only read from arguments: no types, beans, constructors or assignments");
            }
            if (node instanceof VariableReference) {
                variable(node.toStringAST().substring(1), inElement);
            }
            if (!inElement && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
                throw new IllegalArgumentException("begins with '" + node.toStringAST()
                        + "', which is no parameter: parameters begin with #. Known: " + known());
            }
            boolean elements = inElement || node instanceof Projection || node instanceof Selection;
            boolean path = node instanceof CompoundExpression;
            for (int i = 0; i < node.getChildCount(); i++) {
                SpelNode child = node.getChild(i);
                if (path && i > 0) {
                    visitStep(child, elements);
                } else {
                    visit(child, elements);
                }
            }
            if (path) {
                checkPath(node);
            }
        }

        // What follows in a path belongs to what is before; the arguments of a method and an index do not.
        private void visitStep(SpelNode step, boolean inElement) {
            if (step instanceof PropertyOrFieldReference) {
                return;
            }
            if (step instanceof Projection || step instanceof Selection) {
                visit(step, inElement);
                return;
            }
            for (int i = 0; i < step.getChildCount(); i++) {
                // A bare word in brackets is the name of a property or a key.
                if (!(step.getChild(i) instanceof PropertyOrFieldReference)) {
                    visit(step.getChild(i), inElement);
                }
            }
        }

        private void variable(String name, boolean inElement) {
            if (name.equals("this") && inElement) {
                return;
            }
            if (!parameters.containsKey(name)) {
                throw new IllegalArgumentException(
                        "names #" + name + ", which is no parameter of the method. Known: " + known());
            }
            used.add(name);
        }

        private String known() {
            String names = String.join(
                    ", ", parameters.keySet().stream().map(name -> "#" + name).toList());
            return names.isEmpty() ? "none" : names;
        }

        // Only what no subclass can add is known to be missing.
        private void checkPath(SpelNode path) {
            if (!(path.getChild(0) instanceof VariableReference variable)) {
                return;
            }
            Integer index = parameters.get(variable.toStringAST().substring(1));
            ResolvableType type =
                    index == null ? ResolvableType.NONE : ResolvableType.forMethodParameter(method, index, targetClass);
            for (int i = 1; i < path.getChildCount(); i++) {
                Class<?> raw = type.resolve();
                if (raw == null || !(path.getChild(i) instanceof PropertyOrFieldReference property)) {
                    return;
                }
                type = typeOf(property.getName(), raw, type);
                if (type == ResolvableType.NONE && isClosed(raw)) {
                    throw new IllegalArgumentException(
                            "reads '" + property.getName() + "', which " + raw.getName() + " does not have");
                }
            }
        }

        private static boolean isClosed(Class<?> type) {
            return Modifier.isFinal(type.getModifiers()) && !type.isArray() && !type.isPrimitive();
        }

        private static ResolvableType typeOf(String name, Class<?> owner, ResolvableType type) {
            PropertyDescriptor property = BeanUtils.getPropertyDescriptor(owner, name);
            if (property != null && property.getReadMethod() != null) {
                return ResolvableType.forMethodReturnType(property.getReadMethod(), owner);
            }
            return Arrays.stream(owner.getMethods())
                    .filter(each -> each.getName().equals(name) && each.getParameterCount() == 0)
                    .findFirst()
                    .map(each -> ResolvableType.forType(each.getGenericReturnType(), type))
                    .or(() -> Arrays.stream(owner.getFields())
                            .filter(each -> each.getName().equals(name))
                            .findFirst()
                            .map(each -> ResolvableType.forField(each, type)))
                    .orElse(ResolvableType.NONE);
        }
    }
}
