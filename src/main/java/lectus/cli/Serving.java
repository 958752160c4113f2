package lectus.cli;

import ch.qos.logback.classic.LoggerContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import lectus.account.Admins;
import lectus.config.AccountKeys;
import lectus.config.ClusterKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.config.HttpKeys;
import lectus.config.ListenKeys;
import lectus.config.LogKeys;
import lectus.config.Settings;
import lectus.config.Settings.ListenAddress;
import lectus.config.StoreKeys;
import lectus.config.Version;
import lectus.error.LectusException;
import lectus.error.StartException;
import lectus.metrics.DaemonThreads;
import lectus.metrics.LogFormat;
import lectus.metrics.LogOutput;
import lectus.server.Node;
import lectus.server.NodeSettings;
import lectus.store.Store;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server from its start to its orderly stop. Told to restart, it lives once more. */
final class Serving {
  private static final Logger LOG = LoggerFactory.getLogger(Serving.class);

  /** The exit status of a server whose store cannot go on; it may be started again. */
  static final int STORE_BROKEN = 3;

  /** As CouchDB's container has the first admin. */
  static final String USER = "COUCHDB_USER";

  static final String PASSWORD = "COUCHDB_PASSWORD";

  private static final Duration FLUSH_PAUSE = Duration.ofMillis(250);

  /** The time that the steps of an orderly stop may take beside the wait for running requests. */
  private static final long MAX_BEYOND_STOP_SECONDS = 60;

  private final Configuration configuration;
  private final Exposure exposure;
  private final Console console;
  private boolean isFirstLife = true;

  Serving(Configuration configuration, Map<String, String> environment, Console console) {
    this.configuration = configuration;
    this.exposure = new Exposure(configuration, environment);
    this.console = console;
  }

  /**
   * Serves until the process is told to end (SIGTERM, SIGINT) or the store cannot go on, and
   * returns the exit status.
   */
  int run() {
    console.speak(LogFormat.named(configuration.get(LogKeys.FORMAT)));
    NodeSettings settings = Settings.of(configuration).node();
    exposure.checkConfiguration();
    Node.checkAddresses(settings);
    LogOutput.open(settings.http().server().log().format());
    CountDownLatch stopped = new CountDownLatch(1);
    // The log's lines are collected in the buffer of standard output and written many at a time.
    Runnable endFlushing = DaemonThreads.repeat("lectus-log-flush", FLUSH_PAUSE, System.out::flush);
    try (StoreOpening store = new StoreOpening(configuration)) {
      return serve(settings, store, stopped);
    } finally {
      try {
        removeAddress();
        endFlushing.run();
        closeLog();
        if (!isFirstLife) {
          console.say("Lectus has stopped");
        }
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
          announce(settings, node.port());
        };
    ServerRestarts lives = new ServerRestarts(store, exposure::secure, listening, told);
    if (lives.run(settings) != ServerRestarts.Ending.STORE_BROKE) {
      return 0;
    }
    store.await().broken().thenAccept(console::complain);
    return STORE_BROKEN;
  }

  /** The address is the first line on standard output; the log follows there. */
  private void announce(NodeSettings settings, int port) {
    leave(settings.health(port));
    String url = settings.url(port);
    console.say("Lectus listens on " + url + "/");
    console.say(
        "Version %s, data in %s, dashboard at %s/_lectus/"
            .formatted(Version.text(), ConfiguredStore.place(configuration), url));
    Settings.of(configuration).division().forEach(console::say);
    exposure.notices().forEach(console::say);
    if (configuration.get(ClusterKeys.CLUSTER)
        && configuration.get(StoreKeys.STORE).equals("embedded")) {
      console.say(
          "This member of the cluster keeps data of its own, which it does not share with the"
              + " others; members with \"--store foundationdb\" share theirs.");
    }
    LogOutput.toStandardOutput();
    exposure.comparePassword();
  }

  /** Writes where the server can be asked whether it is up; it serves without that, too. */
  private void leave(String address) {
    addressFile()
        .ifPresent(
            file -> {
              try {
                Files.writeString(file, address + "\n");
              } catch (IOException e) {
                LOG.warn("The file {} of \"address-file\" cannot be written", file);
              }
            });
  }

  private void removeAddress() {
    try {
      if (!isFirstLife && addressFile().isPresent()) {
        Files.deleteIfExists(addressFile().get());
      }
    } catch (IOException stays) {
      LOG.debug("The file of \"address-file\" stays", stays);
    }
  }

  private Optional<Path> addressFile() {
    String file = configuration.get(ListenKeys.ADDRESS_FILE);
    return file.isEmpty() ? Optional.empty() : Optional.of(Path.of(file));
  }

  /**
   * The process lives until its shutdown hooks return. This one returns in any case: a server that
   * cannot stop, for lack of memory or because a thread hangs, is ended all the same.
   */
  private Thread stopping(CompletableFuture<Void> told, CountDownLatch stopped) {
    long mostSeconds = configuration.get(HttpKeys.STOP_SECONDS) + MAX_BEYOND_STOP_SECONDS;
    return new Thread(
        () -> {
          if (told.complete(null)) {
            console.say("Lectus stops");
          }
          try {
            stopped.await(mostSeconds, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        "lectus-stop");
  }

  /** Writes the lines that the log's own thread has not written yet. */
  private static void closeLog() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback) {
      logback.stop();
    }
    System.out.flush();
  }

  /**
   * A server that, when it is told to restart, stops in order and lives once more.
   *
   * @param securing is done to the store before each life
   * @param listening is told in each life when it has begun
   * @param told completes when the process is to end
   */
  private record ServerRestarts(
      StoreOpening store,
      UnaryOperator<Store> securing,
      Consumer<Node> listening,
      CompletableFuture<Void> told) {
    /** Why a life ended. */
    enum Ending {
      /** The process is to end. */
      TOLD,
      STORE_BROKE,
      RESTART
    }

    /** Returns when no life follows. */
    Ending run(NodeSettings settings) {
      Life life = live(settings);
      while (life.ending() == Ending.RESTART) {
        LOG.info("The server restarts");
        store.openAnew();
        // Its clients look for it where it was, even if any port would have done at first.
        life = live(settings.at(life.port()));
      }
      return life.ending();
    }

    private record Life(Ending ending, int port) {}

    private Life live(NodeSettings settings) {
      Ending ending = Ending.TOLD;
      int port = settings.port();
      try (Node node = Node.start(settings, () -> securing.apply(store.await()))) {
        port = node.port();
        listening.accept(node);
        ending = end(node);
      } catch (StartException unclean) {
        // Of a store that cannot go on, nothing else is to be expected.
        if (ending != Ending.STORE_BROKE) {
          throw unclean;
        }
      }
      return new Life(ending, port);
    }

    private Ending end(Node node) {
      CompletableFuture<String> broken = store.await().broken();
      CompletableFuture.anyOf(told, broken, node.restartWanted()).join();
      if (broken.isDone()) {
        return Ending.STORE_BROKE;
      }
      return told.isDone() ? Ending.TOLD : Ending.RESTART;
    }
  }

  /**
   * Keeps a server without an admin on loopback, where nobody else reaches it, unless the
   * administrator says otherwise. While there is no admin, everybody who reaches the server is one.
   */
  private static final class Exposure {
    private static final String COUCHDB = "/opt/couchdb";

    private final Configuration configuration;
    private final Map<String, String> environment;
    private Optional<String> warning = Optional.empty();
    private Optional<String> added = Optional.empty();

    /** The admins of the store, once it is open, if the one of the environment was there. */
    private Optional<Admins> compared = Optional.empty();

    Exposure(Configuration configuration, Map<String, String> environment) {
      this.configuration = configuration;
      this.environment = environment;
    }

    /**
     * Checks before a store is made.
     *
     * @throws ConfigurationException one of the two variables is missing, or the address does not
     *     exist, or needs an admin, whom a new store cannot have
     */
    void checkConfiguration() {
      ofCouchDb()
          .ifPresent(
              mount -> {
                throw new ConfigurationException(
                    "There is a volume at "
                        + mount
                        + ", which CouchDB's image uses and Lectus does not read: its data comes"
                        + " over by a replication, its settings are keys of Lectus's own.");
              });
      if (given(USER).isPresent() != given(PASSWORD).isPresent()) {
        throw new ConfigurationException(
            "The admin that " + USER + " and " + PASSWORD + " make needs both of them.");
      }
      String host = configuration.get(ListenKeys.HOST);
      boolean isLoopback = ListenAddress.of(host).isLoopback();
      if (!isLoopback && given(USER).isEmpty() && ConfiguredStore.isNew(configuration)) {
        checkIsWanted(host);
      }
    }

    /**
     * Makes the admin that the environment names, and checks whether the server may listen where it
     * is to.
     *
     * @return the store
     * @throws ConfigurationException it may not
     */
    Store secure(Store store) {
      Admins admins = new Admins(store);
      given(USER).ifPresent(name -> make(admins, name));
      String host = configuration.get(ListenKeys.HOST);
      warning = Optional.empty();
      if (!ListenAddress.of(host).isLoopback() && !admins.isAny()) {
        checkIsWanted(host);
      }
      return store;
    }

    private void make(Admins admins, String name) {
      if (admins.hash(name).isPresent()) {
        compared = Optional.of(admins);
        return;
      }
      if (admins.isAny()) {
        added =
            Optional.of(
                USER + " is new here: " + name + " is an admin beside those that there were.");
      }
      int iterations = configuration.get(AccountKeys.HASH_ITERATIONS);
      try {
        admins.putIfMissing(name, Admins.hashOf(given(PASSWORD).orElseThrow(), iterations));
      } catch (LectusException unusable) {
        throw new ConfigurationException(unusable.error().reason());
      }
    }

    private void checkIsWanted(String host) {
      if (!configuration.get(ListenKeys.ALLOW_ANONYMOUS)) {
        throw new ConfigurationException(
            ("Listening on %s lets everybody who reaches it do everything, because there is no"
                    + " admin yet: \"lectus admin NAME\" makes one, and so do %s and %s in the"
                    + " environment; --allow-anonymous says that everybody is meant.")
                .formatted(host, USER, PASSWORD));
      }
      warning =
          Optional.of("Everybody who reaches " + host + " can read, write and delete everything.");
    }

    /** Returns sentences for whoever starts the server, once the store is {@link #secure}. */
    List<String> notices() {
      List<String> notices = new ArrayList<>();
      List<String> ignored =
          environment.keySet().stream().filter(Exposure::isOnlyOfCouchDb).sorted().toList();
      if (!ignored.isEmpty()) {
        notices.add(
            "Of no meaning here and ignored in the environment: " + String.join(", ", ignored));
      }
      added.ifPresent(notices::add);
      warning.ifPresent(notices::add);
      return notices;
    }

    /** CouchDB's image takes it; the store has the secret of cookies, and addresses are names. */
    private static boolean isOnlyOfCouchDb(String variable) {
      return variable.equals("NODENAME")
          || (variable.startsWith("COUCHDB_")
              && !variable.equals(USER)
              && !variable.equals(PASSWORD));
    }

    /** Says if the store has another password. It takes as long as a log-in, and nobody waits. */
    void comparePassword() {
      compared.ifPresent(
          admins -> DaemonThreads.of(() -> compare(admins), "lectus-password").start());
      compared = Optional.empty();
    }

    private void compare(Admins admins) {
      String name = given(USER).orElseThrow();
      try {
        if (!admins.accepts(name, given(PASSWORD).orElseThrow())) {
          LOG.warn(
              "The password of {} is another one than {} says, and stays so: it is changed through"
                  + " PUT /_node/_local/_config/admins/{}",
              name,
              PASSWORD,
              name);
        }
      } catch (RuntimeException storeIsGone) {
        LOG.debug("The password of {} was not compared", name, storeIsGone);
      }
    }

    /** Returns a mount where CouchDB's image has its files, unless CouchDB itself is there. */
    private static Optional<String> ofCouchDb() {
      try {
        return Files.exists(Path.of(COUCHDB, "bin"))
            ? Optional.empty()
            : mountBelow(COUCHDB, Files.readAllLines(Path.of("/proc/self/mountinfo")));
      } catch (IOException notLinux) {
        return Optional.empty();
      }
    }

    /** The fifth field of a line is the place of a mount. */
    private static Optional<String> mountBelow(String folder, List<String> mounts) {
      return mounts.stream()
          .map(line -> line.split(" ", 6))
          .filter(fields -> fields.length > 5 && fields[4].startsWith(folder + "/"))
          .map(fields -> fields[4])
          .findFirst();
    }

    private Optional<String> given(String variable) {
      return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
    }
  }

  /**
   * Opens a store on a thread of its own while the rest of the server gets ready: each takes half
   * of the start.
   */
  private static final class StoreOpening implements AutoCloseable {
    private final Configuration configuration;
    private CompletableFuture<Store> store;

    StoreOpening(Configuration configuration) {
      this.configuration = configuration;
      this.store = begin();
    }

    private CompletableFuture<Store> begin() {
      return CompletableFuture.supplyAsync(
          () -> ConfiguredStore.open(configuration),
          work -> new Thread(work, "lectus-opening").start());
    }

    /**
     * Closes the store and begins to open it anew, if a process can do so. A cluster stays
     * connected: its client library cannot be started twice.
     */
    void openAnew() {
      if (ConfiguredStore.canBeOpenedAnew(configuration)) {
        close();
        store = begin();
      }
    }

    /**
     * Returns the store once it is open.
     *
     * @throws lectus.error.StoreOpenException one sentence why it cannot be opened
     */
    Store await() {
      try {
        return store.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException failure ? failure : e;
      }
    }

    @Override
    public void close() {
      store.handle((opened, failure) -> opened).thenAccept(StoreOpening::closeIfOpen).join();
    }

    private static void closeIfOpen(Store opened) {
      if (opened != null) {
        opened.close();
      }
    }
  }
}
