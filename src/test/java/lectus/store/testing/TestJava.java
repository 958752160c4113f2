package lectus.store.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The JVMs that tests start as processes of their own. */
public final class TestJava {
  /** A process that lives for seconds compiles little, and that quickly. */
  private static final String COMPILER = "-XX:TieredStopAtLevel=1";

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
    Collections.addAll(command, COLLECTOR, "-cp", System.getProperty("java.class.path"));
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
}
