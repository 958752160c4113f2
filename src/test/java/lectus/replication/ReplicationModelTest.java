package lectus.replication;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import lectus.abuse.ServerProcess;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;
import lectus.http.testing.Request;
import lectus.http.testing.TroubledProxy;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.store.EmbeddedStores;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replications whose servers are killed, whose stores lose commits or their answers, and whose
 * requests are cut, delayed, refused, unanswered, or arrive twice. Every leaf arrives as it was, no
 * leaf is there twice, and at no time does a checkpoint pass what the target lacks. {@code
 * -Dlectus.test.replication-rounds} sets how often.
 */
@Timeout(3_600)
final class ReplicationModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final int ROUNDS = Integer.getInteger("lectus.test.replication-rounds", 6);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_126);

  /** So many rounds have one whose servers are processes, which takes seconds. */
  private static final int ROUNDS_OF_PROCESSES = 25;

  private static final int HEAP_MEGABYTES = 128;
  private static final int PHASES = 2;
  private static final int MOST_ATTEMPTS = 100;

  /** With what the ids of those documents begin that some targets refuse. */
  private static final String REFUSED = "refused";

  private enum Kind {
    PULL,
    PUSH,
    LOCAL
  }

  @Test
  void whatever_happens_every_leaf_arrives_and_no_checkpoint_passes_one() {
    for (int i = 0; i < ROUNDS; i++) {
      Kind kind = Kind.values()[i % Kind.values().length];
      Store far = stores.fresh();
      run(SEED + i, kind, random -> () -> Within.on(far, random));
    }
  }

  @Test
  void nothing_is_lost_when_a_process_is_killed(@TempDir Path folder) {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
    for (int i = 0; i * ROUNDS_OF_PROCESSES < ROUNDS; i++) {
      Path own = folder.resolve("round" + i);
      assertThat(own.toFile().mkdir()).isTrue();
      run(
          SEED + i,
          i % 2 == 0 ? Kind.PUSH : Kind.PULL,
          random -> () -> new OfProcess(ServerProcess.start(own, HEAP_MEGABYTES)));
      try (Store store = EmbeddedStores.open(ServerProcess.data(own))) {
        SoundStore.assertSound(store);
      }
    }
  }

  /**
   * @param far how the server that runs no replication starts
   */
  private static void run(long seed, Kind kind, Function<Random, Supplier<Server>> far) {
    Random random = new Random(seed);
    Store store = stores.fresh();
    try (Host runner = new Host(() -> Within.on(store, random));
        Host other = new Host(far.apply(random));
        Round round = new Round(random, kind, runner, other)) {
      round.run();
    } catch (IOException | RuntimeException | AssertionError failure) {
      throw new AssertionError("seed " + seed + ", " + kind, failure);
    }
  }

  /** A server that can be killed. */
  private interface Server extends AutoCloseable {
    int port();

    /** Ends it in the middle of its work. */
    void kill();

    /** Whether its store loses commits, or their answers. */
    void faulty(boolean is);

    @Override
    void close();
  }

  /** A server of this process. Nothing that it commits after its death is stored. */
  private record Within(FaultyStore store, LectusServer server, Random random) implements Server {
    private static final Fault[] FAULTS = {
      Fault.NOT_COMMITTED, Fault.UNKNOWN_BUT_STORED, Fault.UNKNOWN_AND_LOST
    };

    static Within on(Store store, Random random) {
      FaultyStore faulty = new FaultyStore(store, true);
      return new Within(faulty, LectusServer.start(faulty.store()), random);
    }

    private Fault fault() {
      return random.nextInt(40) == 0 ? FAULTS[random.nextInt(FAULTS.length)] : Fault.NONE;
    }

    @Override
    public int port() {
      return server.port();
    }

    @Override
    public void kill() {
      store.keepFailing(() -> Fault.IO_ERROR);
      server.close();
    }

    @Override
    public void faulty(boolean is) {
      store.keepFailing(is ? this::fault : () -> Fault.NONE);
    }

    @Override
    public void close() {
      store.heal();
      server.close();
    }
  }

  private record OfProcess(ServerProcess process) implements Server {
    @Override
    public int port() {
      return process.port();
    }

    @Override
    public void kill() {
      process.close();
    }

    @Override
    public void faulty(boolean is) {}

    @Override
    public void close() {
      process.close();
    }
  }

  /** Where a server is, and comes back after it was killed. */
  private static final class Host implements AutoCloseable {
    private final Supplier<Server> starting;
    private volatile Server server;

    Host(Supplier<Server> starting) {
      this.starting = starting;
      this.server = starting.get();
    }

    void killAndStart() {
      server.kill();
      server = starting.get();
      server.faulty(true);
    }

    Answer ask(String method, String target, String json) {
      Request request = new Request(server.port(), method, target);
      return (json.isEmpty() ? request : request.json(json)).send();
    }

    @Override
    public void close() {
      server.close();
    }
  }

  /** A database that is asked until it answers. */
  private record Database(Host host, String name) {
    JsonObject ask(String method, String target, String json) {
      AtomicReference<Answer> last = new AtomicReference<>();
      Await.until(
          "it answers",
          () -> {
            last.set(host.ask(method, '/' + name + target, json));
            return last.get().status() < 500;
          });
      Answer answer = last.get();
      assertThat(answer.status() / 100).as("%s %s: %s", method, target, answer).isEqualTo(2);
      return json(
          answer.body().startsWith("[") ? "{\"rows\":" + answer.body() + "}" : answer.body());
    }
  }

  private static JsonObject json(String text) {
    return (JsonObject) JsonValue.parse(text.getBytes(UTF_8));
  }

  private static List<JsonValue> list(JsonValue object, String member) {
    return ((JsonArray) ((JsonObject) object).get(member).orElseThrow()).elements();
  }

  private static String text(JsonValue object, String member) {
    JsonValue value = ((JsonObject) object).get(member).orElseThrow();
    return value instanceof JsonString string ? string.value() : value.toJson();
  }

  /** What is written at the source. Its revisions have grown from any others of their documents. */
  private static final class Documents {
    private static final List<String> NAMES = List.of("d%d", "a/b+c &%d", "\u00e9 %d");

    private final Random random;
    private final Map<String, List<List<String>>> histories = new TreeMap<>();
    private final Map<String, List<String>> revisions = new TreeMap<>();

    Documents(Random random) {
      this.random = random;
    }

    List<String> some() {
      List<String> all = new ArrayList<>();
      for (int i = 5 + random.nextInt(30); i > 0; i--) {
        all.add(next());
      }
      return all;
    }

    private String next() {
      boolean isRefused = random.nextInt(30) == 0;
      String id =
          isRefused
              ? REFUSED + random.nextInt(5)
              : NAMES.get(random.nextInt(NAMES.size())).formatted(random.nextInt(20));
      List<List<String>> known = histories.computeIfAbsent(id, same -> new ArrayList<>());
      List<String> history = new ArrayList<>();
      history.add("%032x".formatted(random.nextInt(1 << 30)));
      if (!known.isEmpty() && random.nextBoolean()) {
        history.addAll(known.get(random.nextInt(known.size())));
      }
      known.add(history);
      add(id, history.size() + "-" + history.get(0));
      String hashes = "[\"" + String.join("\",\"", history) + "\"]";
      return "{\"_id\":\"%s\",\"_rev\":\"%d-%s\",\"_revisions\":{\"start\":%d,\"ids\":%s},%s,\"n\":%d}"
          .formatted(
              id,
              history.size(),
              history.get(0),
              history.size(),
              hashes,
              content(),
              random.nextInt(100));
    }

    private String content() {
      return switch (random.nextInt(12)) {
        case 0 -> "\"_deleted\":true";
        case 1, 2 -> "\"_attachments\":{" + attachment("a.txt", "text/plain") + "}";
        case 3 ->
            "\"_attachments\":{"
                + attachment("b", "image/png")
                + ','
                + attachment("\u00e9 c", "text/html")
                + "}";
        case 4 -> "\"text\":\"" + "x".repeat(random.nextInt(20) == 0 ? 1_200_000 : 9_000) + '"';
        default -> "\"list\":[1.50,null,{\"\u00e4\":true}]";
      };
    }

    private String attachment(String name, String type) {
      String data = "eHh4".repeat(random.nextInt(random.nextInt(8) == 0 ? 30_000 : 1_000));
      return "\"%s\":{\"content_type\":\"%s\",\"data\":\"%s\"}".formatted(name, type, data);
    }

    void add(String id, String revision) {
      revisions.computeIfAbsent(id, same -> new ArrayList<>()).add('"' + revision + '"');
    }

    /** Returns all revisions as {@code _revs_diff} takes them. */
    String revisions() {
      List<String> all = new ArrayList<>();
      revisions.forEach((id, revs) -> all.add('"' + id + "\":[" + String.join(",", revs) + ']'));
      return '{' + String.join(",", all) + '}';
    }
  }

  /** One replication, begun anew until everything is there. */
  private static final class Round implements AutoCloseable {
    private final Random random;
    private final Documents documents;
    private final Host runner;
    private final Host other;
    private final TroubledProxy proxy;
    private final Database source;
    private final Database target;
    private final boolean isContinuous;
    private final String request;

    /** The target refuses these for good. */
    private final boolean refuses;

    Round(Random random, Kind kind, Host runner, Host other) throws IOException {
      this.random = random;
      this.documents = new Documents(random);
      this.runner = runner;
      this.other = other;
      this.proxy = new TroubledProxy(() -> other.server.port(), new Random(random.nextLong()));
      this.source = new Database(kind == Kind.PULL ? other : runner, "w");
      this.target = new Database(kind == Kind.PUSH ? other : runner, "copy");
      this.isContinuous = random.nextInt(3) == 0;
      this.refuses = random.nextBoolean();
      this.request =
          "{\"source\":\"%s\",\"target\":\"%s\",\"continuous\":%b,\"use_bulk_get\":%b,"
                  .formatted(url(source), url(target), isContinuous, random.nextInt(3) > 0)
              + "\"worker_batch_size\":%d,\"worker_processes\":%d,\"retries_per_request\":%d,"
                  .formatted(2 + random.nextInt(15), 1 + random.nextInt(4), random.nextInt(4) / 3)
              + "\"checkpoint_interval\":20,\"connection_timeout\":5000";
    }

    private String url(Database database) {
      return database.host() == runner
          ? database.name()
          : "http://127.0.0.1:" + proxy.port() + '/' + database.name();
    }

    void run() {
      source.ask("PUT", "", "");
      target.ask("PUT", "", "");
      if (refuses) {
        target.ask(
            "PUT",
            "/_design/v",
            "{\"language\":\"query\",\"validate_doc_update\":{\"newDoc\":{\"_id\":"
                + "{\"$not\":{\"$regex\":\"^refused\"}}}}}");
      }
      for (int phase = 0; phase < PHASES; phase++) {
        write();
        trouble(8 + random.nextInt(16));
        if (isContinuous) {
          follow();
        } else {
          repeat();
        }
        trouble(0);
        assertArrived();
      }
      if (!isContinuous) {
        Optional<Answer> last = attempt();
        for (int i = 0; last.filter(it -> it.status() == 200).isEmpty(); i++) {
          // A connection from before may have ended.
          assertThat(i).as("%s", last).isLessThan(MOST_ATTEMPTS);
          last = attempt();
        }
        assertThat(last.get().body()).contains("\"no_changes\":true");
      }
    }

    /** Writes at the source, and some of the same at the target. */
    private void write() {
      List<String> some = documents.some();
      store(source, some);
      if (random.nextInt(3) == 0) {
        store(target, some.stream().filter(it -> !it.contains(REFUSED)).limit(20).toList());
      }
      String id = "edited" + random.nextInt(2);
      Answer former = source.host().ask("GET", '/' + source.name() + '/' + id, "");
      JsonObject edited =
          source.ask(
              "PUT",
              '/' + id,
              former.status() == 200
                  ? former.body().replaceFirst("\"n\":1", "\"n\":11")
                  : "{\"n\":1,\"_attachments\":{\"kept\":{\"data\":\"%s\"}}}"
                      .formatted("eHh4".repeat(9_000)));
      documents.add(id, text(edited, "rev"));
    }

    /** What it is not known to have stored is sent again. */
    private static void store(Database database, List<String> documents) {
      String body = "{\"new_edits\":false,\"docs\":[" + String.join(",", documents) + "]}";
      Await.until(
          "all is stored", () -> list(database.ask("POST", "/_bulk_docs", body), "rows").isEmpty());
    }

    /**
     * @param most how many connections may have trouble
     */
    private void trouble(int most) {
      proxy.trouble(most);
      runner.server.faulty(most > 0);
      other.server.faulty(most > 0);
    }

    private Optional<Answer> attempt() {
      try {
        return Optional.of(runner.ask("POST", "/_replicate", request + '}'));
      } catch (UncheckedIOException killed) {
        return Optional.empty();
      }
    }

    private void repeat() {
      int kills = random.nextInt(2);
      boolean isDone = false;
      for (int attempts = 0; !isDone; attempts++) {
        assertThat(attempts).as("attempts").isLessThan(MOST_ATTEMPTS);
        CompletableFuture<Optional<Answer>> attempt = CompletableFuture.supplyAsync(this::attempt);
        if (attempts == 0) {
          store(source, documents.some());
        }
        if (kills > 0) {
          kills--;
          awaitProgress(attempt::isDone);
          kill();
        }
        Optional<Answer> answer = attempt.join();
        assertThat(answer.map(Answer::status).filter(it -> it != 200 && it < 500))
            .as("%s", answer)
            .isEmpty();
        assertCheckpoints();
        isDone = answer.filter(it -> it.status() == 200).isPresent() && missing().isEmpty();
      }
    }

    /** Waits until the target has changed a few times. */
    private void awaitProgress(BooleanSupplier isOver) {
      Set<String> seen = new TreeSet<>();
      int enough = 2 + random.nextInt(4);
      Await.until(
          "something is copied",
          () -> {
            seen.add(text(target.ask("GET", "", ""), "update_seq"));
            return seen.size() >= enough || isOver.getAsBoolean();
          });
    }

    private void kill() {
      Host victim = random.nextBoolean() ? runner : other;
      proxy.cut();
      victim.killAndStart();
      assertCheckpoints();
    }

    private void follow() {
      boolean[] kills = {random.nextBoolean()};
      begin();
      store(source, documents.some());
      Await.until(
          "all has come",
          () -> {
            begin();
            if (kills[0]) {
              kills[0] = false;
              awaitProgress(() -> missing().isEmpty() || !isRunning());
              kill();
            }
            assertCheckpoints();
            return missing().isEmpty();
          });
      cancel();
      Await.until("it has ended", () -> !isRunning());
      assertCheckpoints();
    }

    private boolean isRunning() {
      return runner.ask("GET", "/_active_tasks", "").body().contains("\"replication\"");
    }

    /** A run that has failed would begin anew only after seconds. */
    private void begin() {
      if (!isRunning()) {
        cancel();
        Optional<Answer> begun = attempt();
        assertThat(begun.map(Answer::status).filter(it -> it != 202 && it < 500))
            .as("%s", begun)
            .isEmpty();
      }
    }

    private void cancel() {
      runner.ask("POST", "/_replicate", request + ",\"cancel\":true}");
    }

    /** Returns the documents of which the target lacks a revision that it does not refuse. */
    private Set<String> missing() {
      Set<String> missing =
          new TreeSet<>(
              target.ask("POST", "/_revs_diff", documents.revisions()).members().keySet());
      missing.removeIf(id -> refuses && id.startsWith(REFUSED));
      return missing;
    }

    /** Whatever is missing has changed behind each checkpoint. */
    private void assertCheckpoints() {
      for (Database end : List.of(source, target)) {
        for (JsonValue row : list(end.ask("GET", "/_local_docs?include_docs=true", ""), "rows")) {
          String since = text(((JsonObject) row).get("doc").orElseThrow(), "source_last_seq");
          Set<String> missing = missing();
          assertThat(changed(since).keySet())
              .as("checkpoint %s of %s", since, end.name())
              .containsAll(missing);
        }
      }
    }

    private Map<String, String> changed(String since) {
      return rows(
          source.ask(
              "GET", "/_changes?style=all_docs&since=" + URLEncoder.encode(since, UTF_8), ""));
    }

    /** Returns the leaves of documents, but for those that are not to be copied. */
    private static Map<String, String> rows(JsonObject changes) {
      Map<String, String> rows = new TreeMap<>();
      for (JsonValue row : list(changes, "results")) {
        List<String> leaves =
            list(row, "changes").stream().map(change -> text(change, "rev")).sorted().toList();
        assertThat(leaves).doesNotHaveDuplicates();
        boolean isDeleted = ((JsonObject) row).get("deleted").isPresent();
        assertThat(rows.put(text(row, "id"), leaves + (isDeleted ? " deleted" : ""))).isNull();
      }
      return rows;
    }

    private void assertArrived() {
      assertThat(source.ask("POST", "/_revs_diff", documents.revisions()).members()).isEmpty();
      Map<String, String> there = leaves(source);
      assertThat(leaves(target)).isEqualTo(there).isNotEmpty();
      List<String> asked = new ArrayList<>();
      there.forEach(
          (id, leaves) -> {
            for (String leaf : leaves.replaceAll("\\[|\\].*", "").split(", ")) {
              asked.add("{\"id\":\"%s\",\"rev\":\"%s\"}".formatted(id, leaf));
            }
          });
      String body = "{\"docs\":[" + String.join(",", asked) + "]}";
      List<JsonValue> here = contents(target, body);
      List<JsonValue> origin = contents(source, body);
      for (int i = 0; i < origin.size(); i++) {
        assertThat(here.get(i).equals(origin.get(i))).as(asked.get(i)).isTrue();
      }
    }

    private static List<JsonValue> contents(Database database, String asked) {
      return list(database.ask("POST", "/_bulk_get?revs=true&attachments=true", asked), "results");
    }

    private Map<String, String> leaves(Database database) {
      Map<String, String> all = rows(database.ask("GET", "/_changes?style=all_docs", ""));
      all.keySet().removeIf(id -> id.equals("_design/v") || (refuses && id.startsWith(REFUSED)));
      return all;
    }

    @Override
    public void close() {
      proxy.close();
    }
  }
}
