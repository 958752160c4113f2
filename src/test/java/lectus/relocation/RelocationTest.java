package lectus.relocation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.Lectus;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Image;
import lectus.changes.testing.ToldByHand;
import lectus.cli.Console;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.RelocationsSubspace;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.OtherPlace;
import lectus.database.RelocationsSubspace.Phase;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.RestoresSubspace;
import lectus.database.Sequence;
import lectus.database.Whereabouts.Frozen;
import lectus.database.Whereabouts.Secret;
import lectus.document.testing.TestDatabase;
import lectus.http.client.HttpCaller;
import lectus.http.client.HttpCaller.ClientSettings;
import lectus.http.testing.Answer;
import lectus.http.testing.FilledDatabase;
import lectus.http.testing.LectusServer;
import lectus.relocation.Relocations.RelocationPace;
import lectus.relocation.Relocations.RelocationParts;
import lectus.store.Awaiting;
import lectus.store.FaultyStore;
import lectus.store.FaultyStore.Fault;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Databases move between two servers. */
final class RelocationTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  /** Where no server listens. */
  private static final String NOBODY = "http://127.0.0.1:1";

  /** Bytes of an attachment: more than an increment without them has. */
  private static final int ATTACHED = 50_000;

  @AutoClose private final LectusServer here = LectusServer.start(stores.fresh());
  @AutoClose private final LectusServer there = LectusServer.start(stores.fresh());

  private final TransactionRunner transactions =
      new TransactionRunner(here.store(), TransactionLimits.DEFAULT);
  private final Catalogue catalogue =
      new Catalogue(here.store(), transactions, InstantSource.system());

  private String begin(String source, String target) {
    Answer begun =
        here.post("/_relocations", "{\"source\":\"" + source + "\",\"target\":\"" + target + "\"}");
    assertThat(begun.status()).as(begun.body()).isEqualTo(202);
    return begun.member("id");
  }

  private void await(String id, String state) {
    Await.until(
        "the relocation is " + state,
        () -> here.get("/_relocations/" + id).body().contains("\"state\":\"" + state + "\""));
  }

  private void awaitReason(String id) {
    Await.until("it says why", () -> !here.get("/_relocations/" + id).member("reason").isEmpty());
  }

  private void fill(String db) {
    FilledDatabase.fill(here, db);
  }

  @Test
  void a_database_moves_with_all_that_it_is() {
    fill("db");
    // A restored database would name this session no more.
    String session = "\"history\":[{\"session_id\":\"s\",\"recorded_seq\":7}]";
    here.put("/db/_local/session", "{\"session_id\":\"s\"," + session + "}");
    Map<String, String> before = FilledDatabase.shown(here, "db");
    await(begin("db", there.url() + "/other"), "moved");
    assertThat(FilledDatabase.shown(there, "other")).isEqualTo(before);
    assertThat(there.get("/other/_local/session").body()).contains(session);
    there.write("/other/new", "{}");
    here.get("/db/new").expect(200);
    assertThat(FilledDatabase.shown(here, "db"))
        .as("through the old place")
        .isEqualTo(FilledDatabase.shown(there, "other"));
    here.put("/db").expect(412);
    here.delete("/db").expect(200);
    here.put("/db").expect(201);
  }

  @Test
  void the_server_that_has_moved_it_passes_on_the_next_body() {
    here.put("/db");
    awaitTold(begin("db", there.url()));
    here.put("/db/after", "{}").expect(201);
    there.get("/db/after").expect(200);
  }

  @Test
  void what_is_written_meanwhile_is_there_afterwards() throws Exception {
    fill("db");
    AtomicBoolean stopped = new AtomicBoolean();
    List<String> written = new ArrayList<>();
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; !stopped.get(); i++) {
                String path = "/" + (i % 3 == 0 ? "_local/" : "") + "w" + i;
                int status = here.put("/db" + path, "{\"n\":" + i + "}").status();
                if (status == 201) {
                  written.add(path);
                } else {
                  assertThat(status).isIn(404, 503);
                }
              }
            });
    Await.until("the writer writes", () -> here.get("/db/w10").status() == 200);
    await(begin("db", there.url() + "/"), "moved");
    stopped.set(true);
    writer.get();
    assertThat(written).hasSizeGreaterThan(10);
    for (String path : written) {
      assertThat(there.get("/db" + path).status()).as(path).isEqualTo(200);
    }
  }

  @Test
  void a_command_moves_a_database(@TempDir Path folder) {
    fill("db");
    there.put("/taken");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Console console = new Console(new PrintWriter(out), new PrintWriter(err));
    String[] taken = {"relocate", "db", "--from", here.url(), "--to", there.url() + "/taken"};
    assertThat(Lectus.run(taken, Map.of(), console)).isOne();
    assertThat(err.toString()).contains("db has not moved: The other place answers 412");
    String[] free = {"relocate", "db", "--from", here.url(), "--to", there.url() + "/free"};
    assertThat(Lectus.run(free, Map.of(), console)).isZero();
    assertThat(out.toString()).endsWith("db, moved\n");
    assertThat(Lectus.run(free, Map.of(), console)).isZero();
    assertThat(Lectus.run(taken, Map.of(), console)).isOne();
    there.get("/free/d1").expect(200);
    String[] backup = {"backup", "--all", "--url", here.url(), "--to", folder.toString()};
    assertThat(Lectus.run(backup, Map.of(), console)).as("%s", err).isZero();
    attach("a");
    assertThat(Lectus.run(backup, Map.of(), console)).as("%s", err).isZero();
    // Only the place where it is now knows which contents need not come.
    attach("b");
    assertThat(Lectus.run(backup, Map.of(), console)).as("%s", err).isZero();
    assertThat(folder.resolve("db/000002.image").toFile().length()).isGreaterThan(ATTACHED);
    assertThat(folder.resolve("db/000003.image").toFile().length()).isLessThan(ATTACHED);
    assertThat(out.toString()).containsPattern("db: an increment .*000003.image\n");
    assertThat(Lectus.run(new String[] {"verify", folder.toString()}, Map.of(), console)).isZero();
    String[] restore = {"restore", folder.toString(), "--url", there.url(), "--as", "copy"};
    assertThat(Lectus.run(restore, Map.of(), console)).as("%s", err).isZero();
    assertThat(FilledDatabase.shown(there, "copy")).isEqualTo(FilledDatabase.shown(here, "db"));
    assertThat(there.get("/copy/b/f").body()).hasSize(ATTACHED);
  }

  /** Through the old place; always the same bytes. */
  private void attach(String document) {
    Answer attached =
        here.request("PUT", "/db/" + document + "/f")
            .header("Content-Type", "image/png")
            .body(new byte[ATTACHED])
            .send();
    assertThat(attached.status()).as(attached.body()).isEqualTo(201);
  }

  @Test
  void a_name_that_is_taken_ends_a_relocation() {
    fill("db");
    there.put("/db");
    String id = begin("db", there.url());
    await(id, "ended");
    assertThat(here.get("/_relocations/" + id).body())
        .contains("The other place answers 412: The database could not be created");
    here.write("/db/new", "{}");
    here.delete("/_relocations/" + id).expect(202);
    here.get("/_relocations/" + id).expect(404);
  }

  @Test
  void a_server_that_does_not_answer_is_asked_again_until_the_relocation_is_given_up() {
    fill("db");
    String id = begin("db", "http://u:secret@127.0.0.1:1/db");
    awaitReason(id);
    assertThat(here.get("/_relocations").body()).doesNotContain("secret");
    here.post("/_relocations", "{\"source\":\"db\",\"target\":\"" + there.url() + "\"}")
        .expect(409);
    here.delete("/_relocations/" + id).expect(202);
    await(id, "ended");
    here.write("/db/new", "{}");
  }

  /** Four at a time are copied. */
  @Test
  void those_that_do_not_go_on_keep_no_other() {
    List<String> stuck = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      here.put("/stuck" + i);
      stuck.add(begin("stuck" + i, NOBODY + "/stuck"));
    }
    stuck.forEach(this::awaitReason);
    fill("db");
    await(begin("db", there.url()), "moved");
    here.put("/last");
    String last = begin("last", NOBODY + "/last");
    here.delete("/_relocations/" + last).expect(202);
    await(last, "ended");
    for (String id : stuck) {
      here.delete("/_relocations/" + id).expect(202);
    }
    stuck.forEach(id -> await(id, "ended"));
  }

  @Test
  void one_that_is_frozen_takes_no_writes_until_it_is_ended_by_force() {
    here.put("/db");
    String id = "f".repeat(32);
    freeze(id);
    Answer refused = here.put("/db/d", "{}").expect(503);
    assertThat(refused.body()).contains(NOBODY + "/db");
    assertThat(refused.header("retry-after")).isNotEmpty();
    here.delete("/db").expect(503);
    here.get("/db").expect(200);
    Await.until("it is asked", () -> here.get("/_relocations/" + id).body().contains("arrivals/1"));
    here.delete("/_relocations/" + id).expect(202);
    here.put("/db/d", "{}").expect(503);

    here.delete("/_relocations/" + id + "?force=true").expect(202);
    await(id, "ended");
    here.write("/db/d", "{}");
    assertThat(images()).as("what follows the database").isEmpty();
    here.delete("/_relocations/" + id).expect(202);
  }

  private List<Image> images() {
    return transactions.read(
        tx -> new GoneSubspace(catalogue.current(tx, DatabaseName.of("db"))).images(tx));
  }

  /** As a server leaves it that ends when all is sent. */
  private void freeze(String id) {
    DatabaseName name = DatabaseName.of("db");
    transactions.run(
        tx -> {
          DatabaseHandle db = catalogue.currentForWrites(tx, name);
          new GoneSubspace(db)
              .follow(
                  tx,
                  new Image("~" + id, true, Awaiting.await(tx.getReadVersion()), Sequence.ZERO));
          new RelocationsSubspace(here.store().rootPrefix())
              .put(tx, departure(id, Phase.FROZEN, db.instance(), 0, NOBODY));
          catalogue.relocate(tx, db, new Frozen(id, NOBODY + "/db"));
          return null;
        });
  }

  private static Departure departure(
      String id, Phase phase, InstanceId instance, long begun, String server) {
    DatabaseName name = DatabaseName.of("db");
    return new Departure(
        id,
        phase,
        name,
        instance,
        new OtherPlace(server + "/", name, "", new Secret("")),
        new Secret("s"),
        1,
        1,
        false,
        begun,
        "",
        OptionalLong.empty());
  }

  /** Whoever sends it waits to be told how far it has come. */
  @Test
  void what_was_removed_since_nothing_came_any_more_is_aborted() {
    String id = "a".repeat(32);
    Attempt attempt = new Attempt(id, 1);
    RelocationsSubspace rows = new RelocationsSubspace(here.store().rootPrefix());
    DatabaseInstance life =
        new DatabaseInstance(
            DatabaseName.of("db"),
            new InstanceId("0".repeat(32)),
            new byte[] {1},
            Versionstamp.ZERO);
    Arrival receiving =
        new Arrival(
            Standing.RECEIVING,
            Optional.of(life),
            0,
            1,
            Optional.of(Sequence.ZERO),
            Optional.empty());
    put(rows, attempt, receiving);
    String path = "/_relocations/" + id + "/arrivals/1";
    assertThat(here.get(path).member("state")).isEqualTo("aborted");
    put(rows, attempt, receiving.in(Standing.OPEN));
    assertThat(here.get(path).member("state")).isEqualTo("open");
    assertThat(here.delete(path).member("state")).isEqualTo("open");
  }

  private void put(RelocationsSubspace rows, Attempt attempt, Arrival arrival) {
    transactions.run(
        tx -> {
          rows.put(tx, attempt, arrival);
          return null;
        });
  }

  @Test
  void one_whose_other_place_refuses_what_it_took_before_is_given_up() throws IOException {
    here.put("/db");
    HttpServer other = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    other.createContext(
        "/",
        asked -> {
          asked.sendResponseHeaders(asked.getRequestMethod().equals("POST") ? 503 : 401, -1);
          asked.close();
        });
    ExecutorService threads = Executors.newCachedThreadPool();
    other.setExecutor(threads);
    other.start();
    try {
      String id = begin("db", "http://127.0.0.1:" + other.getAddress().getPort() + "/db");
      Await.until(
          "it says why",
          () -> here.get("/_relocations/" + id).body().contains("The other place answers 401"));
      await(id, "ended");
    } finally {
      other.stop(0);
      threads.shutdownNow();
    }
    await(begin("db", there.url() + "/db"), "moved");
  }

  /** Five wrong passwords within five minutes lock an admin out. */
  @Test
  void a_password_that_is_wrong_ends_a_relocation_and_locks_nobody_out() {
    here.put("/db");
    there.put("/_node/_local/_config/admins/root", "\"root\"").expect(200);
    String target = there.url() + "/db";
    String id = begin("db", target.replace("//", "//root:wrong@"));
    await(id, "ended");
    here.get("/_relocations/" + id).expect(200);
    assertThat(here.get("/_relocations/" + id).body()).contains("The other place answers 401");
    await(begin("db", target.replace("//", "//root:root@")), "moved");
  }

  @Test
  void a_command_that_was_ended_goes_on_waiting_when_it_is_called_again() {
    here.put("/db");
    String id = begin("db", NOBODY);
    awaitReason(id);
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Console console = new Console(new PrintWriter(out, true), new PrintWriter(err, true));
    String[] elsewhere = {"relocate", "db", "--from", here.url(), "--to", NOBODY + "/other"};
    assertThat(Lectus.run(elsewhere, Map.of(), console)).isOne();
    assertThat(err.toString()).contains("The database is being moved already");
    String[] again = {"relocate", "db", "--from", here.url(), "--to", "http://a:b@127.0.0.1:1/"};
    CompletableFuture<Integer> status =
        CompletableFuture.supplyAsync(() -> Lectus.run(again, Map.of(), console));
    Await.until("it waits", () -> out.toString().contains("db, copying"));
    here.delete("/_relocations/" + id).expect(202);
    assertThat(status.join()).isOne();
    assertThat(out.toString())
        .startsWith("db, relocation " + id + '\n')
        .contains("db, ended: It was given up.");
  }

  /** A server whose disk is full for days takes none of thousands of attempts. */
  @Test
  void of_many_attempts_of_which_nothing_arrived_only_the_last_are_looked_for() throws IOException {
    here.put("/db");
    List<String> seen = new CopyOnWriteArrayList<>();
    HttpServer other = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    other.createContext(
        "/",
        asked -> {
          String path = asked.getRequestURI().getPath();
          seen.add(asked.getRequestMethod() + path.substring(path.lastIndexOf('/')));
          byte[] aborted =
              "{\"ok\":true,\"state\":\"aborted\"}".getBytes(StandardCharsets.US_ASCII);
          switch (asked.getRequestMethod()) {
            case "GET" -> asked.sendResponseHeaders(404, -1);
            case "DELETE" -> {
              asked.sendResponseHeaders(200, aborted.length);
              asked.getResponseBody().write(aborted);
            }
            default -> asked.sendResponseHeaders(503, -1);
          }
          asked.close();
        });
    ExecutorService threads = Executors.newCachedThreadPool();
    other.setExecutor(threads);
    other.start();
    try {
      String id = begin("db", "http://127.0.0.1:" + other.getAddress().getPort() + "/db");
      Await.until("the first attempt was refused", () -> seen.contains("DELETE/1"));
      RelocationsSubspace rows = new RelocationsSubspace(here.store().rootPrefix());
      transactions.run(
          tx -> {
            rows.put(tx, rows.departure(tx, id).orElseThrow().atAttempt(1_000));
            return null;
          });
      Await.until("another one follows", () -> seen.contains("POST/1001"));
      assertThat(seen).contains("GET/1000", "GET/991").doesNotContain("GET/989");
      here.delete("/_relocations/" + id).expect(202);
      await(id, "ended");
    } finally {
      other.stop(0);
      threads.shutdownNow();
    }
  }

  @Test
  void what_cannot_be_asked_for_is_refused() {
    here.put("/db");
    for (String body :
        List.of(
            "{}",
            "[]",
            "{\"source\":\"db\"}",
            "{\"source\":\"_users\",\"target\":\"http://localhost\"}",
            "{\"source\":\"a/_replicator\",\"target\":\"http://localhost\"}",
            "{\"source\":\"db\",\"target\":\"http://localhost/_users\"}",
            "{\"source\":\"db\",\"target\":\"ftp://localhost/db\"}",
            "{\"source\":\"db\",\"target\":\"http://localhost/DB\"}",
            "{\"source\":\"db\",\"target\":\"http://localhost:65536/db\"}",
            "{\"source\":\"db\",\"target\":\"http://localhost/db?x=1\"}",
            "{\"source\":\"db\",\"target\":\"http://localhost/db\",\"forward\":-1}")) {
      assertThat(here.post("/_relocations", body).status()).as(body).isEqualTo(400);
    }
    here.post("/_relocations", "{\"source\":\"no\",\"target\":\"http://localhost\"}").expect(404);
    here.get("/_relocations").expect("{\"relocations\":[]}\n");
    String longest = "http://u:@localhost:1/db";
    longest = longest.replace(":@", ":" + "p".repeat(8_000 - longest.length()) + "@");
    String tooLong = "{\"source\":\"db\",\"target\":\"" + longest + "b\"}";
    here.post("/_relocations", tooLong).expect(400);
    String id = begin("db", longest);
    here.delete("/_relocations/" + id).expect(202);
    await(id, "ended");
  }

  @Test
  void a_hundred_may_be_under_way() {
    List<String> begun = new ArrayList<>();
    for (int i = 0; i <= Relocations.MOST_UNDER_WAY; i++) {
      here.put("/db" + i);
      if (i < Relocations.MOST_UNDER_WAY) {
        begun.add(begin("db" + i, NOBODY));
      }
    }
    String last = "{\"source\":\"db100\",\"target\":\"" + NOBODY + "\"}";
    Answer refused = here.post("/_relocations", last).expect(409);
    assertThat(refused.member("reason")).isEqualTo("Too many relocations are under way.");
    here.delete("/_relocations/" + begun.get(7));
    await(begun.get(7), "ended");
    here.post("/_relocations", last).expect(202);
  }

  @Test
  void of_a_thousand_the_oldest_that_is_over_is_forgotten() {
    here.put("/db");
    RelocationsSubspace rows = new RelocationsSubspace(here.store().rootPrefix());
    transactions.run(
        tx -> {
          for (int i = 0; i < Relocations.MOST_KEPT - 1; i++) {
            rows.put(
                tx,
                departure(
                    "e%031d".formatted(i),
                    Phase.ENDED,
                    new InstanceId("0".repeat(32)),
                    1 + i,
                    NOBODY));
          }
          return null;
        });
    begin("db", NOBODY);
    assertThat(departures()).hasSize(Relocations.MOST_KEPT).contains("e%031d".formatted(0));
    String listed = here.get("/_relocations").body();
    assertThat(listed.indexOf("e%031d".formatted(998)))
        .as("the newest comes first")
        .isPositive()
        .isLessThan(listed.indexOf("e%031d".formatted(997)));
    here.put("/other");
    String last = begin("other", NOBODY);
    assertThat(departures())
        .hasSize(Relocations.MOST_KEPT)
        .contains(last)
        .doesNotContain("e%031d".formatted(0));
  }

  private List<String> departures() {
    return transactions.read(
        tx ->
            new RelocationsSubspace(here.store().rootPrefix())
                .departures(tx).stream().map(Departure::id).toList());
  }

  @Test
  void an_arrival_is_forgotten_once_the_old_place_knows_and_no_message_can_be_late() {
    fill("db");
    String path = awaitTold(begin("db", there.url()));
    assertThat(there.put(path, "{\"secret\":\"s\"}").member("state")).isEqualTo("aborted");
    assertThat(there.delete(path).member("state")).isEqualTo("aborted");
    there.get("/db/d1").expect(200);
    sweep(there, RelocationsSubspace.REMEMBERED_VERSIONS);
    there.get(path).expect(200);
    sweep(there, 0);
    there.get(path).expect(404);
  }

  /** Returns where the other place shows what it remembers of a move, once it knows its end. */
  private String awaitTold(String id) {
    await(id, "moved");
    String attempt =
        here.get("/_relocations/" + id).body().replaceFirst("(?s).*\"attempt\":([0-9]+).*", "$1");
    String path = "/_relocations/" + id + "/arrivals/" + attempt;
    Await.until("it is told", () -> there.get(path).member("state").equals("aborted"));
    return path;
  }

  private static void sweep(LectusServer place, long versions) {
    RelocationsSubspace rows = new RelocationsSubspace(place.store().rootPrefix());
    new TransactionRunner(place.store(), TransactionLimits.DEFAULT)
        .run(tx -> rows.sweep(tx, versions, Optional.empty()));
  }

  @Test
  void of_all_attempts_the_last_is_remembered_and_one_that_was_opened() {
    String id = "b".repeat(32);
    RelocationsSubspace rows = new RelocationsSubspace(here.store().rootPrefix());
    DatabaseInstance life =
        new DatabaseInstance(
            DatabaseName.of("db"),
            new InstanceId("0".repeat(32)),
            new byte[] {1},
            Versionstamp.ZERO);
    String path = "/_relocations/" + id + "/arrivals/";
    for (long attempt = 1; attempt < 4; attempt++) {
      long number = attempt;
      transactions.run(
          tx -> {
            rows.begin(tx, new Attempt(id, number), life);
            return null;
          });
      assertThat(here.delete(path + number).member("state")).isEqualTo("aborted");
    }
    assertThat(here.get(path + 1).member("state")).isEqualTo("aborted");
    assertThat(here.put(path + 2, "{\"secret\":\"s\"}").member("state")).isEqualTo("aborted");
    here.get(path + 4).expect(404);
    assertThat(arrivals()).as("but the name").isOne();

    Attempt lost = new Attempt(id, 4);
    transactions.run(
        tx -> {
          rows.begin(tx, lost, life);
          return null;
        });
    sweep(here, 0);
    assertThat(here.get(path + 4).member("state")).isEqualTo("aborted");
    sweep(here, 0);
    assertThat(arrivals()).isZero();
    put(rows, lost, Arrival.without(Standing.RECEIVING).in(Standing.OPEN));
    sweep(here, 0);
    assertThat(here.get(path + 4).member("state")).isEqualTo("open");
  }

  /** Returns how many rows there are of what comes here, beside names. */
  private int arrivals() {
    return transactions.read(
        tx ->
            (int)
                Awaiting.await(
                        tx.getRange(new RelocationsSubspace(here.store().rootPrefix()).range())
                            .asList())
                    .stream()
                    .filter(row -> row.getValue().length < 20)
                    .count());
  }

  @Test
  void a_server_that_does_not_move_it_only_reads() {
    here.put("/db");
    awaitReason(begin("db", NOBODY));
    FaultyStore counting = new FaultyStore(here.store());
    AtomicInteger commits = new AtomicInteger();
    counting.keepFailing(
        () -> {
          commits.incrementAndGet();
          return Fault.NONE;
        });
    Vertx vertx = Vertx.vertx();
    try (HttpCaller caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS)) {
      Relocations other =
          new Relocations(
              new RelocationParts(
                  counting.store(),
                  new Catalogue(
                      counting.store(),
                      new TransactionRunner(counting.store(), TransactionLimits.DEFAULT),
                      InstantSource.system()),
                  caller,
                  new ToldByHand(),
                  () -> 0));
      for (int i = 0; i < 10; i++) {
        other.step();
      }
      assertThat(commits.get()).isZero();
      other.giveBack();
    } finally {
      vertx.close();
    }
  }

  /** Its next step would be due in an hour. */
  @Test
  void one_that_is_given_up_in_a_pause_ends_at_once() {
    TestDatabase db = TestDatabase.create(stores.fresh());
    Vertx vertx = Vertx.vertx();
    long hour = Duration.ofHours(1).toMillis();
    try (HttpCaller caller = new HttpCaller(vertx, ClientSettings.OF_COMMANDS)) {
      Relocations alone =
          new Relocations(
              new RelocationParts(db.store, db.catalogue, caller, new ToldByHand(), () -> 0),
              new RelocationPace(10_000_000, hour, hour, 1));
      String id = alone.begin(db.name, NOBODY, OptionalLong.empty()).id();
      alone.step();
      Await.until("it says why", () -> !alone.get(id).reason().isEmpty());
      alone.giveUp(id, false);
      Await.until("it has ended", () -> alone.get(id).phase() == Phase.ENDED);
      alone.giveBack();
    } finally {
      vertx.close();
    }
  }

  /** A copy that broke off stays at the other place, which may hear that it is not gone on with. */
  @Test
  void of_a_database_that_was_deleted_meanwhile_the_other_place_keeps_nothing() {
    String id = "c".repeat(32);
    TransactionRunner theirs = new TransactionRunner(there.store(), TransactionLimits.DEFAULT);
    Catalogue others = new Catalogue(there.store(), theirs, InstantSource.system());
    here.put("/source");
    DatabaseHandle usual = catalogue.open(DatabaseName.of("source"));
    theirs.run(
        tx -> {
          DatabaseInstance life =
              others.prepare(
                  tx, DatabaseName.of("db"), usual.configuration(), usual.topology(), List.of());
          byte[] root = there.store().rootPrefix();
          new RestoresSubspace(root).put(tx, life, Awaiting.await(tx.getReadVersion()));
          new RelocationsSubspace(root).begin(tx, new Attempt(id, 1), life);
          return null;
        });
    there.put("/db").expect(412);
    Departure broken = departure(id, Phase.COPYING, new InstanceId("0".repeat(32)), 0, there.url());
    transactions.run(
        tx -> {
          new RelocationsSubspace(here.store().rootPrefix()).put(tx, broken);
          return null;
        });
    await(id, "ended");
    assertThat(here.get("/_relocations/" + id).body()).contains("The database was deleted.");
    there.put("/db").expect(201);

    here.put("/db");
    String other = "d".repeat(32);
    Departure former = departure(other, Phase.COPYING, new InstanceId("0".repeat(32)), 0, NOBODY);
    transactions.run(
        tx -> {
          new RelocationsSubspace(here.store().rootPrefix()).put(tx, former);
          return null;
        });
    await(other, "ended");
    assertThat(here.get("/_relocations/" + other).member("reason"))
        .isEqualTo("The database was deleted. What has its name now came later.");
  }

  @Test
  void an_attempt_that_was_given_up_opens_nothing() {
    String path = "/_relocations/" + "0".repeat(32) + "/arrivals/1";
    there.get(path).expect(404);
    assertThat(there.delete(path).body()).contains("\"aborted\"");
    assertThat(there.put(path, "{\"secret\":\"" + "s".repeat(1_000) + "\"}").body())
        .contains("\"aborted\"");
    for (String secret : List.of("", "s".repeat(1_001))) {
      there.put(path, "{\"secret\":\"" + secret + "\"}").expect(400);
    }
    there.post(path + "?database=db", "lectus image\n").expect(400);
    assertThat(there.get(path).body()).contains("\"aborted\"");
  }
}
