package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.boot.AnnotatedBeans.AnnotatedBean;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Finds classes that call their own idempotent methods: such a call does not pass the proxy. A class that holds a reference to its
 * own type is taken to call through it.
 */
final class SelfInvocations {

    private static final Logger log = LoggerFactory.getLogger(SelfInvocations.class);

    private SelfInvocations() {}

    static void warn(AnnotatedBean bean) {
        for (String call : in(bean)) {
            log.warn(
                    "{}: a call on this does not pass the proxy, so that it is not protected by @{}. Call the method from another bean,"
                            + " through an injected reference to the bean itself, or use IdempotencyTemplate",
                    call,
                    Idempotent.class.getSimpleName());
        }
    }

    static Set<String> in(AnnotatedBean bean) {
        Set<String> targets = bean.methods().keySet().stream()
                .map(method -> method.getName() + Type.getMethodDescriptor(method))
                .collect(Collectors.toSet());
        Set<String> calls = new TreeSet<>();
        for (Class<?> type = bean.userClass();
                type != null && type != Object.class && !holdsItself(type, bean.userClass());
                type = type.getSuperclass()) {
            read(type, targets, calls);
        }
        return calls;
    }

    private static boolean holdsItself(Class<?> type, Class<?> userClass) {
        return Arrays.stream(type.getDeclaredFields())
                .anyMatch(field -> field.getType().isAssignableFrom(userClass) && field.getType() != Object.class
                        || field.getGenericType().getTypeName().contains("<" + userClass.getName() + ">"));
    }

    private static void read(Class<?> type, Set<String> targets, Set<String> calls) {
        try (InputStream bytes = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (bytes != null) {
                new ClassReader(bytes)
                        .accept(new Callers(type, targets, calls), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            }
        } catch (IOException | RuntimeException e) {
            log.debug("The calls of {} cannot be read", type.getName(), e);
        }
    }

    private static final class Callers extends ClassVisitor {

        private final Class<?> type;
        private final Set<String> targets;
        private final Set<String> calls;

        private Callers(Class<?> type, Set<String> targets, Set<String> calls) {
            super(SpringAsmInfo.ASM_VERSION);
            this.type = type;
            this.targets = targets;
            this.calls = calls;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String caller,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            String self = Type.getInternalName(type);
            return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {
                @Override
                public void visitMethodInsn(
                        int opcode, String owner, String name, String calledDescriptor, boolean isInterface) {
                    if (owner.equals(self) && targets.contains(name + calledDescriptor) && !isBridge(access)) {
                        calls.add(type.getName() + "." + readable(caller) + " calls " + name);
                    }
                }
            };
        }

        private static boolean isBridge(int access) {
            return (access & 0x0040) != 0;
        }

        // lambda$outer$0 is a part of outer.
        private static String readable(String caller) {
            return caller.startsWith("lambda$") ? caller.split("\\$")[1] : caller;
        }
    }
}
