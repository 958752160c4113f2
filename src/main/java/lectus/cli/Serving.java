package lectus.cli;

import ch.qos.logback.classic.LoggerContext;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lectus.config.ClusterKeys;
import lectus.config.Configuration;
import lectus.config.HttpKeys;
import lectus.config.Settings;
import lectus.config.StoreKeys;
import lectus.log.JsonLines;
import lectus.log.LogFormat;
import lectus.log.LogOutput;
import lectus.server.Node;
import lectus.server.NodeSettings;
import org.slf4j.LoggerFactory;

/** A server from its start to its orderly stop. Told to restart, it lives once more. */
final class Serving {
  /** The exit status of a server whose store cannot go on; it may be started again. */
  static final int STORE_BROKEN = 3;

  private static final long FLUSH_MILLIS = 250;

  /** The time that the steps of an orderly stop may take beside the wait for running requests. */
  private static final long MOST_BEYOND_STOP_SECONDS = 60;

  private final Configuration configuration;
  private final Exposure exposure;
  private final Console console;
  private boolean isFirstLife = true;

  Serving(Configuration configuration, Map<String, String> environment, Console console) {
    this.configuration = configuration;
    this.exposure = new Exposure(configuration, environment, console);
    this.console = console;
  }

  /**
   * Serves until the process is told to end (SIGTERM, SIGINT) or the store cannot go on, and
   * returns the exit status.
   */
  int run() {
    NodeSettings settings = Settings.of(configuration).node();
    exposure.checkConfiguration();
    tellOfDataOfItsOwn();
    LogOutput.open(settings.http().log().format());
    CountDownLatch stopped = new CountDownLatch(1);
    ScheduledExecutorService flusher = flushRegularly();
    try (StoreOpening store = new StoreOpening(configuration)) {
      return serve(settings, store, stopped);
    } finally {
      try {
        flusher.shutdown();
        closeLog();
      } finally {
        stopped.countDown();
      }
    }
  }

  private int serve(NodeSettings settings, StoreOpening store, CountDownLatch stopped) {
    CompletableFuture<Void> told = new CompletableFuture<>();
    Thread hook = stopping(told, stopped);
    Consumer<Node> listening =
        node -> {
          if (isFirstLife) {
            isFirstLife = false;
            Runtime.getRuntime().addShutdownHook(hook);
          }
          console.say(announcement(settings, node.port()));
        };
    ServerLives lives = new ServerLives(store, exposure::secure, listening, told);
    if (lives.run(settings) != ServerLives.Ending.STORE_BROKE) {
      return 0;
    }
    store.await().broken().thenAccept(console::complain);
    return STORE_BROKEN;
  }

  /** The first line on standard output, where the log follows. */
  private static String announcement(NodeSettings settings, int port) {
    String sentence = "Lectus listens on " + settings.url(port) + "/";
    return settings.http().log().format() == LogFormat.JSON
        ? JsonLines.of("Lectus", sentence)
        : sentence;
  }

  private void tellOfDataOfItsOwn() {
    if (configuration.get(ClusterKeys.CLUSTER)
        && configuration.get(StoreKeys.STORE).equals("embedded")) {
      console.say(
          "This member of the cluster keeps data of its own, which it does not share with the"
              + " others; members with \"--store foundationdb\" share theirs.");
    }
  }

  /**
   * The process lives until its shutdown hooks return. This one returns in any case: a server that
   * cannot stop, for lack of memory or because a thread hangs, is ended all the same.
   */
  private Thread stopping(CompletableFuture<Void> told, CountDownLatch stopped) {
    long mostSeconds = configuration.get(HttpKeys.STOP_SECONDS) + MOST_BEYOND_STOP_SECONDS;
    return new Thread(
        () -> {
          told.complete(null);
          try {
            stopped.await(mostSeconds, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        "lectus-stop");
  }

  /** The log's lines are collected in the buffer of standard output and written many at a time. */
  private static ScheduledExecutorService flushRegularly() {
    ScheduledExecutorService flusher =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "lectus-log-flush");
              thread.setDaemon(true);
              return thread;
            });
    flusher.scheduleWithFixedDelay(
        System.out::flush, FLUSH_MILLIS, FLUSH_MILLIS, TimeUnit.MILLISECONDS);
    return flusher;
  }

  /** Writes the lines that the log's own thread has not written yet. */
  private static void closeLog() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback) {
      logback.stop();
    }
    System.out.flush();
  }
}
