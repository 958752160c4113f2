package lectus.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lectus.changes.notify.StorePoll.PollSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.Request;
import lectus.http.testing.TestSettings;
import lectus.server.NodeSettings.ClusterSettings;
import lectus.store.EmbeddedStores;
import lectus.store.FoundationDbStore;
import lectus.store.Store;
import lectus.store.testing.TestJava;

/** A member of a cluster in a process of its own, which polls once an hour. */
final class MemberProcess implements AutoCloseable {
  private static final String LISTENING = "listening on ";

  private final Process process;
  private final int port;

  private MemberProcess(List<String> arguments) throws IOException {
    List<String> command = TestJava.command(256);
    command.add(Main.class.getName());
    command.addAll(arguments);
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    port = readPort(process.inputReader());
  }

  /**
   * Starts a member with an embedded store of its own.
   *
   * @param cluster Hazelcast's configuration
   */
  static MemberProcess start(Path cluster, Path data) {
    return start(List.of(cluster.toString(), data.toString()));
  }

  /** Starts a member on the FoundationDB cluster of this run, in the directory of this store. */
  static MemberProcess start(Path cluster, Store shared) {
    List<String> arguments = new ArrayList<>();
    arguments.add(cluster.toString());
    arguments.add(System.getProperty("lectus.test.cluster-file"));
    arguments.addAll(shared.directory().getPath());
    return start(arguments);
  }

  private static MemberProcess start(List<String> arguments) {
    try {
      return new MemberProcess(arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int readPort(BufferedReader out) throws IOException {
    String line = out.readLine();
    while (line != null && !line.startsWith(LISTENING)) {
      line = out.readLine();
    }
    if (line == null) {
      throw new IOException("The member did not start");
    }
    return Integer.parseInt(line.substring(LISTENING.length()));
  }

  int port() {
    return port;
  }

  Answer get(String target) {
    return new Request(port, "GET", target).send();
  }

  Answer put(String target, String json) {
    return new Request(port, "PUT", target).json(json).send();
  }

  /** Stops it in the middle of its work, like a machine that is cut off. */
  void freeze() {
    signal("-STOP");
  }

  /** Lets it go on with what it was doing. */
  void wake() {
    signal("-CONT");
  }

  private void signal(String which) {
    try {
      new ProcessBuilder("kill", which, Long.toString(process.pid())).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends it at once (SIGKILL). */
  void kill() {
    process.destroyForcibly();
    await();
  }

  /** Ends it in order (SIGTERM), and waits until it has ended. */
  void stop() {
    process.destroy();
    await();
  }

  private void await() {
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("The member does not end");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** The main class of the process. */
  static final class Main {
    private Main() {}

    /**
     * @param arguments Hazelcast's configuration, then a folder for an embedded store, or
     *     FoundationDB's cluster file and the names of a directory
     */
    public static void main(String[] arguments) throws InterruptedException {
      Path file = Path.of(arguments[1]);
      List<String> directory = List.of(arguments).subList(2, arguments.length);
      Store store =
          directory.isEmpty()
              ? EmbeddedStores.open(file)
              : FoundationDbStore.open(file, Duration.ofSeconds(20), directory);
      PollSettings hourly = new PollSettings(Duration.ofHours(1), Duration.ofHours(1));
      ClusterSettings cluster = new ClusterSettings(Optional.of(Path.of(arguments[0])), 0);
      NodeSettings settings = new TestSettings().polls(hourly).cluster(cluster).toNode();
      Node node = Node.start(settings, store);
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    node.close();
                    store.close();
                  }));
      System.out.println(LISTENING + node.port());
      new CountDownLatch(1).await();
    }
  }
}
