package lectus.store.testing;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import lectus.Lectus;

/** The JVMs that tests start as processes of their own. */
public final class TestJava {
  /** A process that lives for seconds compiles little, and that quickly. */
  public static final String COMPILER = "-XX:TieredStopAtLevel=1";

  /** It starts with the least work; the packaged server is tested with the JVM's own choice. */
  private static final String COLLECTOR = "-XX:+UseSerialGC";

  private TestJava() {}

  /** Returns the path of a program of the JDK that runs the tests. */
  public static String tool(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }

  /**
   * Returns a command with the class path of the tests, to which the main class is added.
   *
   * @param options for the JVM
   */
  public static List<String> command(int heapMegabytes, String... options) {
    List<String> command = jvm(heapMegabytes, options);
    command.add(COLLECTOR);
    command.addAll(SharedClasses.OPTIONS);
    return command;
  }

  /** Returns a command that runs the packaged server, to which its arguments are added. */
  public static List<String> packaged(int heapMegabytes, String... options) {
    List<String> command = jvm(heapMegabytes, options);
    Collections.addAll(command, "-jar", System.getProperty("lectus.jar"));
    return command;
  }

  private static List<String> jvm(int heapMegabytes, String... options) {
    List<String> command = new ArrayList<>(List.of(tool("java")));
    Collections.addAll(command, "-Xmx" + heapMegabytes + "m", COMPILER);
    Collections.addAll(command, options);
    return command;
  }

  /**
   * The server's classes as the JVM maps them (class data sharing): a start takes half of the work.
   * It maps classes of jars alone, which are at the front of the class path. What does not fit is
   * not mapped.
   */
  private static final class SharedClasses {
    private static final List<String> OPTIONS = options();

    private static List<String> options() {
      try {
        Path classes =
            Path.of(Lectus.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path folder = Files.createDirectories(classes.resolveSibling("shared-classes"));
        Path archive = folder.resolve("archive");
        String path = System.getProperty("java.class.path");
        String jars =
            Stream.of(path.split(File.pathSeparator))
                .filter(it -> it.endsWith(".jar"))
                .reduce(
                    folder.resolve("classes.jar").toString(), (a, b) -> a + File.pathSeparator + b);
        // One JVM of tests writes it for all that run side by side.
        try (FileChannel file = FileChannel.open(folder.resolve("lock"), CREATE, WRITE);
            FileLock held = file.lock();
            Stream<Path> compiled = Files.walk(classes)) {
          long written = archive.toFile().lastModified();
          if (held.isValid() && compiled.anyMatch(it -> it.toFile().lastModified() >= written)) {
            write(classes, archive, jars);
          }
        }
        String all = jars + File.pathSeparator + path;
        return List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-cp", all);
      } catch (IOException | InterruptedException | URISyntaxException e) {
        throw new IllegalStateException(e);
      }
    }

    /** A server that ends leaves the classes that it has loaded. */
    private static void write(Path classes, Path archive, String jars)
        throws IOException, InterruptedException {
      String jar = archive.resolveSibling("classes.jar").toString();
      ToolProvider.findFirst("jar")
          .orElseThrow()
          .run(System.out, System.err, "-c0f", jar, "-C", classes.toString(), ".");
      List<String> command =
          jvm(256, COLLECTOR, "-XX:ArchiveClassesAtExit=" + archive, "-cp", jars);
      command.addAll(List.of("lectus.Lectus", "serve", "--port", "0", "--data"));
      command.add(archive.resolveSibling("data").toString());
      Process server = new ProcessBuilder(command).redirectErrorStream(true).start();
      server.inputReader().readLine();
      // Process.destroy would close the streams.
      server.toHandle().destroy();
      server.waitFor();
    }
  }
}
