package lectus.relocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.http.UpgradeRejectedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lectus.abuse.ServerProcess;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;
import lectus.http.testing.Conversation;
import lectus.http.testing.Request;
import lectus.http.testing.SocketClient;
import lectus.http.testing.TroubledProxy;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Databases move back and forth between two servers, each a process with a store of its own. Both
 * are killed again and again, and what they say to each other is cut, slow, refused, lost or comes
 * twice. Meanwhile clients at both places write, read and follow feeds of all forms. {@code
 * -Dlectus.test.killed-rounds} sets how many moves there are.
 */
@Timeout(7_200)
final class KilledPlacesTest {
  private static final int ROUNDS = Integer.getInteger("lectus.test.killed-rounds", 8);
  private static final long SEED = Long.getLong("lectus.test.seed", 20_261_127);
  private static final int DATABASES = 4;

  /** Each database moves so often, before the stores are looked at as a whole. */
  private static final int JOURNEYS = 2;

  private static final int MOST_KILLS = 2;
  private static final int LOOK_MILLIS = 40;
  private static final int STEPS_AT_A_PACE = 20;
  private static final int MOST_DOUBLINGS = 5;
  private static final int HEAP_MEGABYTES = 128;
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static final int OK = 200;
  private static final int CREATED = 201;
  private static final int BAD_REQUEST = 400;
  private static final int CONFLICT = 409;

  /** Where no server listens. */
  private static final int NOBODY = 1;

  /** Of a database that is not here, is elsewhere and out of reach, or takes no writes now. */
  private static final Set<Integer> NOT_NOW = Set.of(404, 503);

  /** A change with one leaf, in whatever form. */
  private static final Pattern ROW =
      Pattern.compile(
          "\"seq\":\"([0-9a-f]+)\",\"id\":\"([^\"]+)\",\"changes\":\\[\\{\"rev\":\"([^\"]+)\"}\\]");

  private static final Pattern LAST = Pattern.compile("\"last_seq\":\"([0-9a-f]+)\"");

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @Test
  void whoever_dies_nothing_is_lost_and_one_place_takes_writes(@TempDir Path folder)
      throws Exception {
    TestStores.onlyEmbedded();
    assumeTrue(ServerProcess.canBeWatched(), "This system has no /proc");
    for (int done = 0; done < ROUNDS; done += DATABASES * JOURNEYS) {
      long seed = SEED + done;
      try {
        travel(Files.createDirectory(folder.resolve("from" + done)), new Random(seed));
      } catch (IOException | RuntimeException | AssertionError failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
    threads.shutdownNow();
  }

  private void travel(Path folder, Random random) throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"));
    try (Place a = new Place(folders.get(0), random);
        Place b = new Place(folders.get(1), random)) {
      List<Database> all =
          IntStream.range(0, DATABASES)
              .mapToObj(i -> i % 2 == 0 ? new Database("w" + i, a, b) : new Database("w" + i, b, a))
              .toList();
      for (int journey = 0; journey < JOURNEYS; journey++) {
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        all.forEach(db -> clients.addAll(db.clients(random).map(this::started).toList()));
        a.proxy.trouble(random.nextInt(60));
        b.proxy.trouble(random.nextInt(60));
        List<CompletableFuture<Void>> moves = all.stream().map(db -> started(db::move)).toList();
        for (int kills = random.nextInt(MOST_KILLS); kills >= 0; kills--) {
          awaitMoment(random, all);
          (random.nextBoolean() ? a : b).killAndStart();
        }
        moves.forEach(CompletableFuture::join);
        a.proxy.trouble(0);
        b.proxy.trouble(0);
        all.forEach(Database::end);
        clients.forEach(CompletableFuture::join);
        all.forEach(Database::check);
      }
    }
    for (Path each : folders) {
      try (Store store = EmbeddedStores.open(ServerProcess.data(each))) {
        SoundStore.assertSound(store);
      }
    }
  }

  private CompletableFuture<Void> started(Runnable client) {
    return CompletableFuture.runAsync(client, threads)
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** At any time, or when a database is frozen, or has just arrived. */
  private static void awaitMoment(Random random, List<Database> all) {
    int kind = random.nextInt(3);
    String wanted = kind == 0 ? "frozen" : "moved";
    if (kind < 2) {
      Set<Database> before = all.stream().filter(db -> db.isIn(wanted)).collect(Collectors.toSet());
      Await.until(
          PATIENCE,
          "a database is " + wanted,
          () ->
              all.stream().allMatch(db -> db.isIn("moved") || before.contains(db))
                  || all.stream().anyMatch(db -> db.isIn(wanted) && !before.contains(db)));
    }
    pause(random.nextInt(kind < 2 ? 30 : 1_000));
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Longer and longer, so that a busy machine has no more to do. */
  private static void pause(Random its, int before) {
    pause(its.nextInt(20 << Math.min(MOST_DOUBLINGS, before / STEPS_AT_A_PACE)));
  }

  /** A server, and the way on which the other one reaches it. */
  private static final class Place implements AutoCloseable {
    private final Path folder;
    private final TroubledProxy proxy;
    private ServerProcess server;
    private volatile int port;

    Place(Path folder, Random random) throws IOException {
      this.folder = Files.createDirectory(folder);
      this.proxy = new TroubledProxy(() -> port, new Random(random.nextLong()));
      start();
    }

    private void start() {
      server = ServerProcess.start(folder, HEAP_MEGABYTES);
      port = server.port();
    }

    void killAndStart() {
      kill();
      start();
    }

    private void kill() {
      port = NOBODY;
      server.close();
      assertThat(server.log().stream().filter(line -> line.contains(" ERROR "))).isEmpty();
    }

    /** Returns empty if there was no answer, or not all of it. */
    Optional<Answer> ask(String method, String target, String json) {
      try {
        Request request = new Request(port, method, target);
        Answer answer = (json.isEmpty() ? request : request.json(json)).send();
        assertThat(answer.status()).as("%s %s: %s", method, target, answer).isNotEqualTo(500);
        return Optional.of(answer);
      } catch (UncheckedIOException killed) {
        return Optional.empty();
      }
    }

    /** Asks until there is an answer. */
    Answer told(String method, String target, String json) {
      List<Answer> told = new ArrayList<>();
      Await.until(
          PATIENCE,
          method + ' ' + target + " is answered",
          () ->
              ask(method, target, json).filter(it -> it.status() < 500).map(told::add).isPresent());
      return told.get(0);
    }

    @Override
    public void close() {
      proxy.close();
      kill();
    }
  }

  /**
   * @param end nanoseconds, as {@code begun}
   */
  private record Write(String id, String rev, long begun, long end) {}

  private record Row(String seq, String id, String rev) {
    static Row of(MatchResult found) {
      return new Row(found.group(1), found.group(2), found.group(3));
    }
  }

  /** A database that moves, and its clients. */
  private static final class Database {
    private static final Pattern REVISIONS =
        Pattern.compile("\"start\":([0-9]+),\"ids\":\\[([^]]*)]");

    private final String name;
    private final Reader reader = new Reader(this);
    private final List<Write> acknowledged = new ArrayList<>();
    private final Map<String, Integer> shown = new ConcurrentHashMap<>();
    private final Set<String> over = new HashSet<>();
    private Map<String, Row> before = Map.of();
    private Optional<String> rev = Optional.empty();
    private volatile int document;
    private volatile Place home;
    private volatile Place other;
    private volatile String state = "";
    private volatile boolean isOver;

    /** What the last row has once nobody writes any more. */
    private volatile Optional<String> last = Optional.empty();

    Database(String name, Place home, Place other) {
      this.name = name;
      this.home = home;
      this.other = other;
      home.told("PUT", "/" + name, "");
    }

    Stream<Runnable> clients(Random random) {
      isOver = false;
      last = Optional.empty();
      state = "";
      return Stream.<Consumer<Random>>of(this::write, this::read, reader::follow)
          .map(
              client -> {
                Random its = new Random(random.nextLong());
                return () -> client.accept(its);
              });
    }

    boolean isIn(String wanted) {
      return state.equals(wanted);
    }

    Place any(Random its) {
      return its.nextBoolean() ? home : other;
    }

    /** What is left of it at the other place makes room first. */
    void move() {
      Answer gone = other.told("DELETE", "/" + name, "");
      assertThat(gone.status()).as("%s", gone).isIn(200, 404);
      while (!hasMoved()) {
        pause(LOOK_MILLIS);
      }
    }

    private boolean hasMoved() {
      Pattern ofThis =
          Pattern.compile(
              "\"id\":\"([^\"]+)\",\"source\":\"%s\",.*?\"state\":\"([^\"]+)\".*?\"reason\":(.*?)}"
                  .formatted(name));
      Matcher each = ofThis.matcher(home.told("GET", "/_relocations", "").body());
      while (each.find()) {
        if (!over.contains(each.group(1))) {
          state = each.group(2);
          assertThat(state).as(each.group(3)).isNotEqualTo("ended");
          return isIn("moved") && over.add(each.group(1));
        }
      }
      String target = "http://127.0.0.1:" + other.proxy.port();
      String asked = "{\"source\":\"%s\",\"target\":\"%s\"}".formatted(name, target);
      home.ask("POST", "/_relocations", asked);
      return false;
    }

    /** It is elsewhere. Writes come to an end, then feeds. */
    void end() {
      Place left = home;
      home = other;
      other = left;
      isOver = true;
    }

    private String path(int number) {
      return "/" + name + "/d" + number;
    }

    private void write(Random its) {
      for (int i = 0; !isOver; i++) {
        if (its.nextInt(4) == 0) {
          next();
        }
        write(any(its));
        pause(its, i);
      }
      next();
      Await.until(PATIENCE, name + " takes writes", () -> write(home));
      next();
      last = changes(home).values().stream().map(Row::seq).max(Comparator.naturalOrder());
    }

    private void next() {
      document++;
      rev = Optional.empty();
    }

    /** Writes the next revision; one of another document if nobody knows what is stored. */
    private boolean write(Place place) {
      String path = path(document);
      long begun = System.nanoTime();
      Optional<Answer> answer =
          place.ask("PUT", path + rev.map(it -> "?rev=" + it).orElse(""), "{\"a\":\"b\"}");
      int status = answer.map(Answer::status).orElse(CONFLICT);
      if (status == CREATED) {
        rev = answer.map(it -> it.member("rev"));
        show(place, path, rev.get());
        acknowledged.add(new Write("d" + document, rev.get(), begun, System.nanoTime()));
      } else if (status == CONFLICT) {
        next();
      } else {
        assertThat(status).as("%s", answer).isIn(NOT_NOW);
      }
      return status == CREATED;
    }

    private int show(Place place, String path, String revision) {
      int generation = Integer.parseInt(revision.substring(0, revision.indexOf('-')));
      shown.merge(place.folder + path, generation, Math::max);
      return generation;
    }

    /** A place shows no less than it has shown. */
    private void read(Random its) {
      for (int i = 0; !isOver; i++) {
        Place place = any(its);
        String path = path(document);
        int least = shown.getOrDefault(place.folder + path, 0);
        place.ask("GET", path, "").ifPresent(it -> read(place, path, it, least));
        pause(its, i);
      }
    }

    private void read(Place place, String path, Answer answer, int least) {
      if (answer.status() == OK) {
        assertThat(show(place, path, answer.member("_rev"))).isGreaterThanOrEqualTo(least);
      } else {
        assertThat(answer.status()).as("%s", answer).isIn(NOT_NOW);
        assertThat(least > 0 && answer.body().contains("\"missing\"")).as(path).isFalse();
      }
    }

    private Map<String, Row> changes(Place place) {
      Answer all = place.told("GET", "/" + name + "/_changes?style=all_docs", "");
      Map<String, Row> rows = new TreeMap<>();
      ROW.matcher(all.body())
          .results()
          .map(Row::of)
          .forEach(it -> assertThat(rows.put(it.id(), it)).isNull());
      assertThat(all.body().split("\"seq\"", -1)).as("those of one leaf").hasSize(rows.size() + 1);
      return rows;
    }

    void check() {
      Map<String, Row> now = changes(home);
      assertThat(changes(other)).as("through the old place").isEqualTo(now);
      assertThat(now).as("what was there before").containsAllEntriesOf(before);
      acknowledged.stream().collect(Collectors.groupingBy(Write::id)).forEach(this::check);
      List<Write> newest =
          acknowledged.stream().filter(it -> now.get(it.id()).rev().equals(it.rev())).toList();
      for (Write one : newest) {
        for (Write earlier : newest) {
          assertThat(
                  earlier.end() - one.begun() < 0
                      && now.get(earlier.id()).seq().compareTo(now.get(one.id()).seq()) > 0)
              .as("%s %s", earlier, one)
              .isFalse();
        }
      }
      reader.check(now.values());
      acknowledged.clear();
      before = now;
    }

    /** Each is there once: revisions are numbered. */
    private void check(String id, List<Write> writes) {
      Answer answer = home.told("GET", "/" + name + '/' + id + "?revs=true", "");
      Matcher all = REVISIONS.matcher(answer.body());
      assertThat(all.find()).as("%s of %s: %s", id, writes, answer).isTrue();
      List<String> hashes = List.of(all.group(2).replace("\"", "").split(","));
      int newest = Integer.parseInt(all.group(1));
      assertThat(IntStream.range(0, hashes.size()).mapToObj(i -> newest - i + "-" + hashes.get(i)))
          .containsAll(writes.stream().map(Write::rev).toList());
    }
  }

  /** Follows a database from place to place, and always goes on where it was. */
  private static final class Reader {
    private static final String SOCKET = "socket";
    private static final String SESSION = "session";
    private static final List<String> FORMS =
        List.of("normal", "longpoll", "continuous", "eventsource", SOCKET, SESSION);

    private final Database db;
    private final List<Row> seen = new ArrayList<>();
    private String begun = "0";
    private String since = "0";

    Reader(Database db) {
      this.db = db;
    }

    private boolean isAtEnd() {
      return db.last.filter(it -> since.compareTo(it) >= 0).isPresent();
    }

    void follow(Random its) {
      for (int i = 0; !isAtEnd(); i++) {
        int port = db.any(its).port;
        int most = its.nextInt(100);
        String form = FORMS.get(its.nextInt(FORMS.size()));
        switch (form) {
          case SOCKET, SESSION -> opened(form, port).ifPresent(it -> listen(it, most));
          default -> follow(form, port, most);
        }
        pause(its, i);
      }
    }

    private String target(String form) {
      return "/%s/_changes?style=all_docs&feed=%s&heartbeat=1000&since=%s"
          .formatted(db.name, form, since);
    }

    private void follow(String form, int port, int most) {
      try (Connection connection = new Request(port, "GET", target(form)).open()) {
        Answer head = connection.readHead();
        if (head.status() != OK || !head.isChunked()) {
          Answer whole = connection.readBody(head, false);
          refused(whole.status(), whole.body());
          take(whole.body());
          return;
        }
        String rest = "";
        String chunk = connection.chunkText();
        for (int left = most; left > 0 && !chunk.isEmpty(); left--) {
          rest = take(rest + chunk);
          chunk = isAtEnd() ? "" : connection.chunkText();
        }
      } catch (UncheckedIOException cut) {
        // It comes again.
      }
    }

    /** A place that does not know yet that a database has moved on does not know its sequences. */
    private static void refused(int status, String why) {
      if (status != OK && !(status == BAD_REQUEST && why.contains("since"))) {
        assertThat(status).as(why).isIn(NOT_NOW);
      }
    }

    private Optional<SocketClient> opened(String form, int port) {
      try {
        if (form.equals(SOCKET)) {
          return Optional.of(SocketClient.connect(port, target("continuous")));
        }
        String members = "'db':'%s','style':'all_docs','since':'%s'".formatted(db.name, since);
        SocketClient socket = SocketClient.connect(port, "/_changes", "lectus.changes.v1");
        Conversation.over(socket).subscribe("s", members);
        return Optional.of(socket);
      } catch (AssertionError killed) {
        if (killed.getCause().getCause() instanceof UpgradeRejectedException refused) {
          refused(refused.getStatus(), refused.getBody().toString());
        }
        return Optional.empty();
      }
    }

    private void listen(SocketClient opened, int most) {
      try (opened) {
        boolean isOver = false;
        for (int left = most; left > 0 && !isOver && !isAtEnd(); ) {
          isOver = opened.isClosed();
          String message = opened.poll();
          if (message == null) {
            pause(LOOK_MILLIS);
          } else {
            take(message);
            // An end or an error.
            isOver = message.contains("\"type\":\"e");
            left--;
          }
        }
      }
    }

    /**
     * Rows come in order, and none before what was seen already.
     *
     * @return what may be the beginning of a row
     */
    private String take(String text) {
      int taken = 0;
      Matcher row = ROW.matcher(text);
      while (row.find()) {
        assertThat(row.group(1)).isGreaterThan(since);
        seen.add(Row.of(row));
        since = row.group(1);
        taken = row.end();
      }
      Matcher last = LAST.matcher(text);
      if (last.find()) {
        assertThat(last.group(1)).isGreaterThanOrEqualTo(since);
        since = last.group(1);
      }
      return text.substring(taken);
    }

    /** What nobody has changed since then was seen, once. */
    void check(Collection<Row> rows) {
      assertThat(seen).extracting(row -> row.id() + row.rev()).doesNotHaveDuplicates();
      assertThat(rows)
          .filteredOn(it -> it.seq().compareTo(begun) > 0 && it.seq().compareTo(since) <= 0)
          .isSubsetOf(seen);
      begun = since;
      seen.clear();
    }
  }
}
