package io.idempotency.it.payments.child;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

/**
 * Java agent that gives an application a wrong wall clock: every class outside of the JDK reads {@link SkewedClock} where it says
 * {@code System.currentTimeMillis()}, {@code Instant.now()}, {@code new Date()} or asks for a system clock.
 */
public final class ClockSkewAgent {

    private static final String SKEWED = Type.getInternalName(SkewedClock.class);

    private static final Set<String> WALL_CLOCK = Set.of(
            "java/lang/System.currentTimeMillis()J",
            "java/time/Instant.now()Ljava/time/Instant;",
            "java/time/Clock.systemUTC()Ljava/time/Clock;",
            "java/time/Clock.systemDefaultZone()Ljava/time/Clock;",
            "java/time/Clock.system(Ljava/time/ZoneId;)Ljava/time/Clock;",
            "java/time/InstantSource.system()Ljava/time/InstantSource;");

    private ClockSkewAgent() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Transformer());
    }

    private static final class Transformer implements ClassFileTransformer {

        @Override
        public byte @Nullable [] transform(
                @Nullable ClassLoader loader,
                String className,
                @Nullable Class<?> redefined,
                @Nullable ProtectionDomain domain,
                byte[] bytes) {
            if (loader != ClassLoader.getSystemClassLoader()
                    || className.equals(SKEWED)
                    || className.startsWith("org/springframework/asm/")) {
                return null;
            }
            var reader = new ClassReader(bytes);
            var writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new ClockCalls(writer), 0);
            return writer.toByteArray();
        }
    }

    private static final class ClockCalls extends ClassVisitor {

        ClockCalls(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                @Override
                public void visitMethodInsn(
                        int opcode, String owner, String name, String descriptor, boolean inInterface) {
                    if (opcode == Opcodes.INVOKESTATIC && WALL_CLOCK.contains(owner + "." + name + descriptor)) {
                        super.visitMethodInsn(opcode, SKEWED, name, descriptor, false);
                    } else if (opcode == Opcodes.INVOKESPECIAL
                            && (owner + "." + name + descriptor).equals("java/util/Date.<init>()V")) {
                        super.visitMethodInsn(Opcodes.INVOKESTATIC, SKEWED, "currentTimeMillis", "()J", false);
                        super.visitMethodInsn(opcode, owner, name, "(J)V", false);
                    } else {
                        super.visitMethodInsn(opcode, owner, name, descriptor, inInterface);
                    }
                }

                @Override
                public void visitInvokeDynamicInsn(
                        String name, String descriptor, Handle bootstrap, Object... arguments) {
                    Object[] skewed = arguments.clone();
                    for (int i = 0; i < skewed.length; i++) {
                        if (skewed[i] instanceof Handle handle
                                && WALL_CLOCK.contains(handle.getOwner() + "." + handle.getName() + handle.getDesc())) {
                            skewed[i] = new Handle(
                                    Opcodes.H_INVOKESTATIC, SKEWED, handle.getName(), handle.getDesc(), false);
                        }
                    }
                    super.visitInvokeDynamicInsn(name, descriptor, bootstrap, skewed);
                }
            };
        }
    }
}
