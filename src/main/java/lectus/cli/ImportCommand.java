package lectus.cli;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.cli.ServerUrl.RefusedException;
import lectus.config.ConfigurationException;
import lectus.database.UserContext;
import lectus.http.client.HttpCaller;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.Replication;
import lectus.replication.ReplicationFailure;
import lectus.replication.ReplicationRequest;
import lectus.replication.ReplicationRequest.Defaults;
import lectus.replication.ReplicationStatistics;
import lectus.replication.ReplicationStatistics.Count;
import lectus.replication.Replicator;
import lectus.replication.Replicator.ReplicatorSettings;
import lectus.replication.Target.Refusal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code lectus import}: databases of a CouchDB, by replications that this command runs itself.
 * Their checkpoints make it resumable and repeatable.
 */
@Command(
    name = "import",
    description = {
      "Copies databases of a CouchDB 2 or 3: all edit branches, tombstones, attachments, "
          + "users and security objects.",
      "It may be repeated, and then copies what has changed since.",
      "The exit status is 0 if all of it came, and 1 if not: its last lines say what."
    },
    mixinStandardHelpOptions = true)
public final class ImportCommand implements Callable<Integer> {
  /** The variables that have a name and a password for the source. */
  static final String USER = "COUCHDB_SOURCE_USER";

  static final String PASSWORD = "COUCHDB_SOURCE_PASSWORD";

  private static final int FAILED = 1;
  private static final int PRECONDITION_FAILED = 412;
  private static final int PART_OF_HEAP = 4;

  /** Its documents are of the server. */
  private static final String LEFT_OUT = "_global_changes";

  /** Ids of checkpoints begin with a hash of this, so every later import finds them. */
  private static final String KNOWN = "lectus-import";

  private static final int MOST_DOCUMENT_BYTES = 64 << 20;
  private static final long LOOK_MILLIS = 200;
  private static final String USERS = "_users";

  /** So many sentences are kept of all databases until the end, of so many characters. */
  private static final int MOST_NOTES = 10_000;

  private static final int LONGEST_NOTE = 1_000;

  /** Languages of design documents that have functions, or none. */
  private static final Set<String> RUN = Set.of("javascript", "query");

  private static final Map<String, String> NOT_RUN =
      new TreeMap<>(
          Map.of(
              "shows", "_show",
              "lists", "_list",
              "rewrites", "_rewrite",
              "indexes", "_search",
              "nouveau", "_nouveau"));

  @Mixin private final ServerUrl.Flags flags;

  private final Console console;

  @Parameters(
      index = "0",
      paramLabel = "SOURCE",
      converter = ServerUrl.Parsing.class,
      description =
          "The CouchDB: http://NAME:PASSWORD@HOST:5984. Name and password may also be those of the "
              + "variables COUCHDB_SOURCE_USER and COUCHDB_SOURCE_PASSWORD.")
  private URI source;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "DATABASE",
      description = "The databases; by default all but those of replications and _global_changes.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--local", description = "Local documents, too, but for checkpoints.")
  private boolean takesLocal;

  @Option(
      names = "--anew",
      description = "Looks at everything again, also at what was refused before.")
  private boolean isAnew;

  @Option(
      names = "--at-once",
      paramLabel = "NUMBER",
      defaultValue = "4",
      description = "How many databases are copied at a time. Default: ${DEFAULT-VALUE}")
  private int atOnce;

  public ImportCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.flags = new ServerUrl.Flags(environment, prompt);
    this.console = console;
  }

  /** One database: how far it is, and what came of it. */
  private static final class Imported {
    private final String database;
    private final AtomicInteger room;
    private final Queue<String> notes = new ConcurrentLinkedQueue<>();
    private volatile Replication running;
    private volatile long expected;
    private volatile boolean isComplete;

    /** Read when its thread has ended. */
    private long refused;

    private String documents = "";

    /**
     * @param room for how many sentences of all databases there is
     */
    Imported(String database, AtomicInteger room) {
      this.database = database;
      this.room = room;
    }

    /** Keeps a sentence without its full stop, if there is room. */
    void note(String sentence) {
      if (room.getAndDecrement() > 0) {
        notes.add(sentence.substring(0, Math.min(LONGEST_NOTE, sentence.length())));
      }
    }

    /** Returns about how much of it has been copied by now and before, from 0 to 1. */
    double share() {
      long written = running == null ? 0 : running.statistics().get(Count.DOCS_WRITTEN);
      return isComplete ? 1 : expected == 0 ? 0 : Math.min(1, (double) written / expected);
    }

    /** Returns how many documents this command has copied. */
    long copied() {
      return running == null ? 0 : running.statistics().writtenNow();
    }
  }

  @Override
  public Integer call() {
    if (atOnce < 1) {
      throw new ConfigurationException("--at-once has to be 1 or more.");
    }
    ServerUrl.requireNames(names);
    ServerUrl from = flags.server(source, USER, PASSWORD);
    ReplicatorSettings settings =
        new ReplicatorSettings(
            flags.clientSettings(),
            Defaults.OF_COUCHDB,
            Optional.empty(),
            Runtime.getRuntime().maxMemory() / PART_OF_HEAP,
            MOST_DOCUMENT_BYTES);
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    try (ServerUrl to = flags.server();
        HttpCaller caller = new HttpCaller(vertx, settings.client());
        Replicator replicator =
            new Replicator(
                caller,
                Optional.empty(),
                isAnew ? UUID.randomUUID().toString() : KNOWN,
                Replicator.threads(settings.memory()),
                settings)) {
      List<String> databases = new ArrayList<>(names.isEmpty() ? from.databases() : names);
      if (names.isEmpty()) {
        databases.removeIf(it -> it.equals(LEFT_OUT) || RestoreCommand.isReplicator(it));
      }
      return copy(replicator, from, to, databases);
    } catch (IOException e) {
      console.complain("Nothing was imported", e);
      return FAILED;
    } finally {
      vertx.close();
    }
  }

  private int copy(Replicator replicator, ServerUrl from, ServerUrl to, List<String> databases) {
    AtomicInteger room = new AtomicInteger(MOST_NOTES);
    List<Imported> all = databases.stream().map(it -> new Imported(it, room)).toList();
    ExecutorService threads = Executors.newFixedThreadPool(atOnce);
    Progress progress = Progress.of(console);
    all.forEach(each -> threads.execute(() -> copy(replicator, from, to, each)));
    threads.shutdown();
    try {
      while (!threads.awaitTermination(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        long done = all.stream().filter(it -> it.isComplete).count();
        long copied = all.stream().mapToLong(Imported::copied).sum();
        progress.show(
            OptionalDouble.of(all.stream().mapToDouble(Imported::share).average().orElse(0)),
            () -> done + " of " + all.size() + " databases, " + copied + " documents");
      }
    } catch (InterruptedException ended) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
    progress.clear();
    return tell(all);
  }

  /** Nobody may read a document before the database says who may. */
  private void copy(Replicator replicator, ServerUrl from, ServerUrl to, Imported database) {
    try {
      JsonValue info = from.json(from.request(path(database)).build());
      database.expected = number(info, "doc_count") + number(info, "doc_del_count");
      create(to, database, info);
      copySettings(from, to, database);
      replicate(replicator, from, to, database);
      if (takesLocal) {
        String local = path(database) + "/_local_docs";
        from.each(local, "_local", id -> copyLocal(from, to, database, id));
      }
      String all = path(database) + "/_all_docs";
      from.each(all, "_design", id -> noteWhatDoesNotRun(from, database, id));
      JsonValue copy = to.json(to.request(path(database)).build());
      database.documents = copy.member("doc_count").map(JsonValue::toJson).orElse("");
      database.isComplete = true;
    } catch (Throwable failure) {
      // It ends nothing but this database.
      database.note(ReplicationFailure.of(failure).reason());
    }
  }

  private static String path(Imported database) {
    return "/" + ServerUrl.segment(database.database);
  }

  private static long number(JsonValue of, String name) {
    return of.member(name)
        .map(JsonValue::toJson)
        .filter(it -> it.matches("\\d{1,18}"))
        .map(Long::parseLong)
        .orElse(0L);
  }

  private static void create(ServerUrl to, Imported database, JsonValue info) throws IOException {
    boolean isPartitioned =
        info.member("props")
            .flatMap(it -> it.member("partitioned"))
            .equals(Optional.of(new JsonBool(true)));
    String path = path(database) + (isPartitioned ? "?partitioned=true" : "");
    try {
      to.json(to.request(path).PUT(BodyPublishers.noBody()).build());
    } catch (RefusedException refused) {
      if (refused.status() != PRECONDITION_FAILED) {
        throw refused;
      }
    }
  }

  private void replicate(Replicator replicator, ServerUrl from, ServerUrl to, Imported database) {
    Map<String, JsonValue> request = new TreeMap<>();
    request.put("source", from.end(path(database)));
    request.put("target", to.end(path(database)));
    request.put("use_checkpoints", new JsonBool(!isAnew));
    request.put("connection_timeout", new JsonNumber(Long.toString(flags.patience().toMillis())));
    Replication run =
        replicator.prepare(
            ReplicationRequest.parse(new JsonObject(request), Defaults.OF_COUCHDB),
            UserContext.ANONYMOUS,
            Optional.empty());
    database.running = run;
    try {
      run.start().join();
    } catch (CompletionException failed) {
      throw ReplicationFailure.of(failed);
    }
    for (Refusal it : run.statistics().refusals()) {
      database.note(it.id() + " was refused: " + it.error() + ", " + it.reason());
    }
    database.refused = run.statistics().get(Count.DOC_WRITE_FAILURES);
    int named = run.statistics().refusals().size();
    if (database.refused > named) {
      database.note(
          ("%s more were refused, some perhaps before; --anew looks at them again and names the"
                  + " first %s")
              .formatted(database.refused - named, ReplicationStatistics.MOST_REFUSALS));
    }
  }

  private static void copySettings(ServerUrl from, ServerUrl to, Imported database)
      throws IOException {
    for (String setting : List.of("/_security", "/_revs_limit")) {
      Optional<JsonValue> there = from.find(path(database) + setting);
      if (there.isEmpty() || there.equals(to.find(path(database) + setting))) {
        continue;
      }
      try {
        put(to, path(database) + setting, there.get());
      } catch (RefusedException refused) {
        if (!database.database.equals(USERS)) {
          throw refused;
        }
        // Its documents have rules of their own.
        database.note(setting.substring(1) + " stays as it is: " + refused.getMessage());
      }
    }
  }

  private static void put(ServerUrl to, String path, JsonValue body) throws IOException {
    to.json(
        to.request(path)
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofByteArray(body.toBytes()))
            .build());
  }

  private static void copyLocal(ServerUrl from, ServerUrl to, Imported database, String id)
      throws IOException {
    String path = path(database) + ServerUrl.path(id);
    Optional<JsonObject> document = from.local(path);
    if (document.isEmpty()) {
      return;
    }
    Map<String, JsonValue> former = to.local(path).map(JsonObject::members).orElse(Map.of());
    Map<String, JsonValue> body = new LinkedHashMap<>(document.get().members());
    body.remove("_rev");
    Optional.ofNullable(former.get("_rev")).ifPresent(it -> body.put("_rev", it));
    if (body.equals(former)) {
      return;
    }
    try {
      put(to, path, new JsonObject(body));
    } catch (RefusedException refused) {
      database.refused++;
      database.note(id + " was refused: " + refused.getMessage());
    }
  }

  private static void noteWhatDoesNotRun(ServerUrl from, Imported database, String id)
      throws IOException {
    Optional<JsonValue> document = from.find(path(database) + ServerUrl.path(id));
    NOT_RUN.forEach(
        (member, resource) -> {
          if (document.flatMap(it -> it.member(member)).isPresent()) {
            database.note(id + ": " + resource + " does not run in Lectus");
          }
        });
    document
        .flatMap(it -> it.textOf("language"))
        .filter(it -> !RUN.contains(it))
        .ifPresent(it -> database.note(id + ": functions in " + it + " do not run in Lectus"));
  }

  /** Tells what came, what could not, and what will not run. */
  private int tell(List<Imported> all) {
    int width = all.stream().mapToInt(it -> it.database.length()).max().orElse(0);
    String row = "%-" + Math.max(width, "DATABASE".length()) + "s  %12s  %12s  %8s  %s";
    console.say(row.formatted("DATABASE", "DOCUMENTS", "COPIED", "REFUSED", "").stripTrailing());
    for (Imported it : all) {
      console.say(
          row.formatted(
                  it.database,
                  it.documents,
                  it.copied(),
                  it.refused,
                  it.isComplete ? "" : "not complete")
              .stripTrailing());
    }
    for (Imported each : all) {
      each.notes.forEach(it -> console.say(each.database + ": " + it));
    }
    if (all.stream().mapToInt(it -> it.notes.size()).sum() == MOST_NOTES) {
      console.say("There may be more; the first " + MOST_NOTES + " are shown.");
    }
    return all.stream().allMatch(it -> it.isComplete && it.refused == 0) ? 0 : FAILED;
  }
}
