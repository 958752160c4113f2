package lectus.abuse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.store.testing.Await;
import lectus.store.testing.TestJava;

/** A server in a process of its own with a small heap, watched from outside. Linux only. */
public final class ServerProcess implements AutoCloseable {
  private static final Pattern LISTENING =
      Pattern.compile("Lectus listens on https?://127\\.0\\.0\\.1:(\\d+)/");

  /** On a busy machine, too. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Process process;
  private final Path log;
  private final int port;

  private ServerProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
    Await.until(
        PATIENCE, "the server listens", () -> !process.isAlive() || announced().isPresent());
    port =
        announced()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "The server did not start:\n" + String.join("\n", log())));
  }

  /** Whether this system shows the resources of a process. */
  public static boolean canBeWatched() {
    return Files.isDirectory(Path.of("/proc/self/fd"));
  }

  /**
   * Starts a server on any free port of the loopback address.
   *
   * @param folder for its data and its log
   * @param settings as {@code --set} takes them
   */
  public static ServerProcess start(Path folder, int heapMegabytes, String... settings) {
    return start(folder, heapMegabytes, Map.of(), settings);
  }

  /** As {@link #start(Path, int, String...)}, with additional environment variables. */
  public static ServerProcess start(
      Path folder, int heapMegabytes, Map<String, String> environment, String... settings) {
    try {
      Path log = folder.resolve("log");
      List<String> command = TestJava.command(heapMegabytes);
      command.addAll(
          List.of("lectus.Lectus", "serve", "--port", "0", "--data", data(folder).toString()));
      // The name by which tests address servers.
      command.addAll(List.of("--set", "http.hosts=host"));
      for (String setting : settings) {
        command.addAll(List.of("--set", setting));
      }
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().putAll(environment);
      return new ServerProcess(builder.redirectOutput(log.toFile()).start(), log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns where a server that was started in this folder keeps its data. */
  public static Path data(Path folder) {
    return folder.resolve("data");
  }

  public int port() {
    return port;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Returns all lines of both output streams. */
  public List<String> log() {
    try (Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
      return lines.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<Integer> announced() {
    return log().stream()
        .map(LISTENING::matcher)
        .filter(Matcher::find)
        .map(line -> Integer.valueOf(line.group(1)))
        .findFirst();
  }

  /** Returns how many files and sockets it has open. */
  public int descriptors() {
    return list("fd").size();
  }

  /** Returns how many sockets it has open, listening ones included. */
  public int sockets() {
    int sockets = 0;
    for (Path descriptor : list("fd")) {
      try {
        sockets += Files.readSymbolicLink(descriptor).toString().startsWith("socket:") ? 1 : 0;
      } catch (IOException closedMeanwhile) {
        // The descriptor is closed by now.
      }
    }
    return sockets;
  }

  public int threads() {
    return list("task").size();
  }

  private List<Path> list(String what) {
    try (Stream<Path> entries = Files.list(Path.of("/proc", Long.toString(process.pid()), what))) {
      return entries.toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what its heap holds after a garbage collection. */
  public LiveHeap liveHeap() {
    try {
      Process jcmd =
          new ProcessBuilder(
                  TestJava.tool("jcmd"), Long.toString(process.pid()), "GC.class_histogram")
              .redirectErrorStream(true)
              .start();
      return LiveHeap.parse(jcmd.inputReader().lines());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Changes one of its limits ({@code prlimit}), at once.
   *
   * @param what the limit's name for the command
   */
  void limit(String what, String soft) {
    run("prlimit", "--pid", Long.toString(process.pid()), "--" + what + "=" + soft + ":");
  }

  /** Ends the processes that run functions for it, at once (SIGKILL). */
  public void killChildren() {
    process.toHandle().children().forEach(ProcessHandle::destroyForcibly);
  }

  /** Stops it in the middle of its work (SIGSTOP), like a machine that is asleep. */
  public void sleep(Duration time) {
    signal("-STOP");
    try {
      Thread.sleep(time.toMillis());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      signal("-CONT");
    }
  }

  private void signal(String name) {
    run("kill", name, Long.toString(process.pid()));
  }

  private static void run(String... command) {
    try {
      int status = new ProcessBuilder(command).inheritIO().start().waitFor();
      if (status != 0) {
        throw new IllegalStateException(String.join(" ", command) + ": " + status);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Ends it in order (SIGTERM).
   *
   * @return its exit status
   * @throws IllegalStateException if it does not end in time
   */
  public int stop(int seconds) {
    process.toHandle().destroy();
    return awaitEnd(seconds);
  }

  /** As {@link #stop}, for a server that ends by itself. */
  int awaitEnd(int seconds) {
    try {
      if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
        throw new IllegalStateException("The server did not end within " + seconds + " s");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends it at once (SIGKILL), if it still runs. */
  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
