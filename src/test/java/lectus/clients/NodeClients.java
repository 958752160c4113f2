package lectus.clients;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    try (FileChannel held = FileChannel.open(target.resolve("lock"), CREATE, WRITE)) {
      // Test classes in JVMs side by side ask for the same folder.
      held.lock();
      copyChanged(sources, target);
      fetchPackages(target);
    }
    return target;
  }

  /** Files that are the same stay as they are: another JVM's tests may be reading them. */
  private static void copyChanged(Path sources, Path target) throws IOException {
    try (Stream<Path> files = Files.list(sources)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = target.resolve(file.getFileName());
        if (!isCopy(copy, file)) {
          Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private static boolean isCopy(Path copy, Path file) throws IOException {
    return Files.exists(copy) && Files.mismatch(copy, file) == -1;
  }

  private static void fetchPackages(Path target) throws IOException, InterruptedException {
    Path wanted = target.resolve("package-lock.json");
    Path installed = target.resolve("installed.json");
    if (isCopy(installed, wanted)) {
      return;
    }
    Outcome ended = run(target, Map.of(), List.of("npm", "ci", "--no-audit", "--no-fund"));
    need(ended.status() == 0, "npm could not install its packages:\n" + ended.output());
    Files.copy(wanted, installed, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Unpacks a package from npm without those that it would be built with.
   *
   * @param sha512 of the archive, in Base64
   * @return its folder
   */
  Path unpack(String name, String version, String sha512)
      throws IOException, InterruptedException, NoSuchAlgorithmException {
    Path archive = folder.resolve(name + "-" + version + ".tgz");
    if (!Files.exists(archive)) {
      Outcome packed = run(folder, Map.of(), List.of("npm", "pack", name + "@" + version));
      need(packed.status() == 0, "npm could not fetch " + name + ":\n" + packed.output());
    }
    byte[] sum = MessageDigest.getInstance("SHA-512").digest(Files.readAllBytes(archive));
    assertThat(Base64.getEncoder().encodeToString(sum)).as("%s", archive).isEqualTo(sha512);
    Path unpacked = Files.createDirectories(folder.resolve(name + "-" + version));
    Outcome done =
        run(unpacked, Map.of(), List.of("tar", "xf", archive.toAbsolutePath().toString()));
    assertThat(done.status()).as(done.output()).isZero();
    return unpacked.resolve("package");
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
  record Outcome(int status, String output) {
    private static final Pattern PASSED = Pattern.compile("^# pass (\\d+)$", Pattern.MULTILINE);

    /** All tests passed, and there were that many. */
    void assertPassed(int tests) {
      assertThat(status).as(output).isZero();
      Matcher passed = PASSED.matcher(output);
      assertThat(passed.find()).as(output).isTrue();
      assertThat(Integer.parseInt(passed.group(1))).isEqualTo(tests);
    }
  }

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
