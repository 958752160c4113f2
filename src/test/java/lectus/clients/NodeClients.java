package lectus.clients;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the tests in {@code src/test/clients} with the packages from npm that they need, installed
 * in the build folder. Where Node.js, npm or the packages are missing, the test is skipped, unless
 * {@code lectus.test.require-clients} says that it must run.
 */
public final class NodeClients {
  private static final Path SOURCES = Path.of("src", "test", "clients");
  private static final int MINUTES = 5;

  private final Path folder;

  private NodeClients(Path folder) {
    this.folder = folder;
  }

  static NodeClients install() throws IOException, InterruptedException {
    return new NodeClients(install(SOURCES, Path.of("target", "clients")));
  }

  /**
   * Installs the packages from npm that a folder of the sources asks for.
   *
   * @param target a folder of the build, which is returned
   */
  public static Path install(Path sources, Path target) throws IOException, InterruptedException {
    need(
        runs("node", "--version") && runs("npm", "--version"), "Node.js and npm are not installed");
    Files.createDirectories(target);
    try (Stream<Path> files = Files.list(sources)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = target.resolve(file.getFileName());
        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    Outcome installed = run(target, Map.of(), List.of("npm", "ci", "--no-audit", "--no-fund"));
    need(installed.status() == 0, "npm could not install its packages:\n" + installed.output());
    return target;
  }

  /** Runs one file of tests to its end. */
  Outcome test(String file, Map<String, String> environment)
      throws IOException, InterruptedException {
    return run(folder, environment, List.of("node", "--test", "--test-reporter=tap", file));
  }

  /**
   * The result of a program.
   *
   * @param output of both its streams
   */
  record Outcome(int status, String output) {}

  /** Skips the test if something is missing, unless skipping is forbidden. */
  public static void need(boolean there, String otherwise) {
    if (Boolean.getBoolean("lectus.test.require-clients") && !there) {
      throw new AssertionError(otherwise);
    }
    assumeTrue(there, otherwise);
  }

  /** Whether a program is there and ends well. */
  public static boolean runs(String... command) throws InterruptedException {
    try {
      return run(Path.of("."), Map.of(), List.of(command)).status() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  private static Outcome run(Path folder, Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("lectus-client", ".log");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      process.getOutputStream().close();
      if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
        process.destroyForcibly().waitFor();
        throw new AssertionError("No end of " + command + ":\n" + Files.readString(output));
      }
      return new Outcome(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    } finally {
      Files.delete(output);
    }
  }
}
