import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Applies each mutant of a list beside the sources and runs the tests that must fail. */
public class Mutants {

    private static final int LONGEST_MINUTES = 6;

    private final Path scratch;
    private final Map<String, Boolean> baseline = new HashMap<>();
    private Path runner;

    private Mutants(Path scratch) {
        this.scratch = scratch;
    }

    public static void main(String[] arguments) throws Exception {
        List<Mutant> all = parse(Files.readString(Path.of(arguments[0])));
        String wanted = arguments.length > 2 ? arguments[2] : "";
        Mutants mutants = new Mutants(Path.of(arguments[1]));
        List<String> bad = new ArrayList<>();
        int count = 0;
        for (Mutant mutant : all) {
            if (!(wanted.equals("--short") ? mutant.needsNoServer() : mutant.name.contains(wanted))) {
                continue;
            }
            long start = System.nanoTime();
            String verdict = mutants.verdict(mutant, ++count);
            System.out.printf(
                    "%-9s %3d s  %s (%s)%n",
                    verdict, Duration.ofNanos(System.nanoTime() - start).toSeconds(), mutant.name, mutant.test);
            if (!verdict.equals("killed")) {
                bad.add(mutant.name);
            }
        }
        System.out.printf("%d mutants, %d not killed %s%n", count, bad.size(), bad.isEmpty() ? "" : bad);
        System.exit(bad.isEmpty() && count > 0 ? 0 : 1);
    }

    private String verdict(Mutant mutant, int number) throws Exception {
        Path source = Path.of(mutant.file);
        String text = Files.readString(source);
        int at = text.indexOf(mutant.text);
        if (at < 0 || text.indexOf(mutant.text, at + 1) >= 0) {
            return "STALE";
        }
        String key = mutant.module + " " + mutant.test;
        if (!baseline.containsKey(key)) {
            baseline.put(key, passes(mutant, null));
        }
        if (!baseline.get(key)) {
            return "RED";
        }
        Path overlay = Files.createDirectories(scratch.resolve("classes-" + number));
        String changed = text.substring(0, at) + mutant.replacement + text.substring(at + mutant.text.length());
        Path main = mutant.file.endsWith(".java") ? Path.of("src/main/java") : Path.of("src/main/resources");
        Path inPackage = Path.of(mutant.file.substring(mutant.file.indexOf(main.toString()) + main.toString().length() + 1));
        Path copy = scratch.resolve("sources-" + number).resolve(inPackage);
        if (mutant.file.endsWith(".java")) {
            Files.createDirectories(copy.getParent());
            Files.writeString(copy, changed);
            String own = mutant.file.substring(0, mutant.file.indexOf('/'));
            if (run(List.of("javac", "-nowarn", "-proc:none", "-parameters", "--release", "17", "-d", overlay.toString(),
                    "-cp", classpath(own), copy.toString()), scratch.resolve("javac-" + number + ".log")) != 0) {
                System.out.println(Files.readString(scratch.resolve("javac-" + number + ".log")));
                return "BROKEN";
            }
        } else {
            Path target = overlay.resolve(inPackage);
            Files.createDirectories(target.getParent());
            Files.writeString(target, changed);
        }
        return passes(mutant, overlay) ? "SURVIVED" : "killed";
    }

    private boolean passes(Mutant mutant, Path overlay) throws Exception {
        String classpath = classpath(mutant.module) + File.pathSeparator + launcher(mutant.module);
        if (runner == null) {
            runner = Files.createDirectories(scratch.resolve("runner"));
            Path source = runner.resolve("RunTest.java");
            Files.writeString(source, RUN_TEST);
            if (run(List.of("javac", "-d", runner.toString(), "-cp", classpath, source.toString()), scratch.resolve("runner.log")) != 0) {
                throw new IllegalStateException(Files.readString(scratch.resolve("runner.log")));
            }
        }
        List<String> command = List.of("java", "-cp",
                (overlay == null ? "" : overlay + File.pathSeparator) + runner + File.pathSeparator + classpath, "RunTest", mutant.test);
        int exit = run(command, scratch.resolve("test.log"));
        if (exit == 0 || exit == 1) {
            return exit == 0;
        }
        throw new IllegalStateException("The tests did not run: " + exit + "\n" + Files.readString(scratch.resolve("test.log")));
    }

    private int run(List<String> command, Path log) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (!process.waitFor(LONGEST_MINUTES, TimeUnit.MINUTES)) {
            process.destroyForcibly().waitFor();
            return 1;
        }
        return process.exitValue();
    }

    private static String classpath(String module) throws IOException {
        Path root = Path.of(module, "target");
        return Arrays.asList(root.resolve("test-classes").toString(), root.resolve("classes").toString(),
                        Files.readString(root.resolve("mutants.classpath")).strip())
                .stream()
                .collect(Collectors.joining(File.pathSeparator));
    }

    // Maven brings the launcher itself, in the version of the engine.
    private static String launcher(String module) throws IOException {
        String engine = Arrays.stream(classpath(module).split(File.pathSeparator))
                .filter(entry -> entry.contains("junit-platform-engine"))
                .findFirst()
                .orElseThrow();
        return engine.replace("junit-platform-engine", "junit-platform-launcher");
    }

    private static List<Mutant> parse(String text) {
        List<Mutant> mutants = new ArrayList<>();
        for (String block : text.split("(?m)^# ")) {
            if (!block.contains("\n----\n")) {
                continue;
            }
            String[] parts = block.split("\n----\n?|\n?====\n?|\n?\\+\\+\\+\\+\n?", -1);
            String[] head = parts[0].split("\n");
            mutants.add(new Mutant(head[0], head[1], head[2].split(" ")[0], head[2].split(" ")[1], parts[1], parts[2]));
        }
        return mutants;
    }

    private record Mutant(String name, String file, String module, String test, String text, String replacement) {

        private boolean needsNoServer() {
            return module.equals("idempotency-test");
        }
    }

    private static final String RUN_TEST = """
            import org.junit.platform.engine.discovery.DiscoverySelectors;
            import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
            import org.junit.platform.launcher.core.LauncherFactory;
            import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

            public class RunTest {

                public static void main(String[] names) {
                    var listener = new SummaryGeneratingListener();
                    var selector = names[0].contains("#")
                            ? DiscoverySelectors.selectMethod(names[0])
                            : DiscoverySelectors.selectClass(names[0]);
                    LauncherFactory.create().execute(
                            LauncherDiscoveryRequestBuilder.request().selectors(selector).build(), listener);
                    var summary = listener.getSummary();
                    summary.printFailuresTo(new java.io.PrintWriter(System.out));
                    if (summary.getTestsFoundCount() == 0) {
                        System.exit(2);
                    }
                    System.exit(summary.getTotalFailureCount() == 0 ? 0 : 1);
                }
            }
            """;
}
