package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.Rows;
import lectus.changes.page.SessionNotifications;
import lectus.changes.page.Since;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.document.RequestJson;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.testing.TestSettings;
import lectus.json.FieldPath;
import lectus.revision.RevisionId;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random writes, and listeners that want random parts of them, begin anywhere, are slow at times,
 * leave and come again. Each is shown what a normal feed with its options shows, and nothing twice.
 */
@Timeout(120)
final class ViewsModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static final Pattern ROW = Pattern.compile("\\{\"seq\":\"(\\w+)\",\"id\":\"([^\"]+)\".*");
  private static final int STEPS = 300;
  private static final int DOCUMENTS = 25;
  private static final int LISTENERS = 40;
  private static final FeedTerms FOREVER =
      new FeedTerms(ChangesReader.NO_LIMIT, OptionalLong.empty(), OptionalLong.empty());

  private final ToldByHand events = new ToldByHand();
  private final ExecutorService readers = Executors.newFixedThreadPool(3);
  private final TailRegistry tails = new TailRegistry(readers);
  private final List<Loop> loops = List.of(new Loop(), new Loop());
  private final Map<String, List<RevisionId>> leaves = new HashMap<>();
  private final List<String> history = new ArrayList<>(List.of("0"));
  private FeedDatabase db;
  private Random random;

  private final class Loop {
    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final LiveFeeds feeds =
        new LiveFeeds(
            tails,
            SessionNotifications.NONE,
            new DeliveryMetrics(version -> 0),
            new TestSettings().toNode().http());

    <T> T run(Callable<T> work) {
      CompletableFuture<T> done = new CompletableFuture<>();
      context.runOnContext(
          none -> {
            try {
              done.complete(work.call());
            } catch (Throwable e) {
              done.completeExceptionally(e);
            }
          });
      return done.join();
    }
  }

  @AfterEach
  void stop() {
    loops.forEach(loop -> loop.vertx.close().await());
    readers.shutdown();
  }

  /** A client that notes what it was shown; used on its event loop only. */
  private final class Client implements FeedSink<FeedPosition> {
    private final Loop loop;
    private final FeedOptions options;
    private final String since;
    private final List<String> rows = new ArrayList<>();
    private LiveListener<FeedPosition> listener;
    private FeedPosition from;
    private long room = Long.MAX_VALUE;

    /** The room when the client was last asked for it: a page may be on its way since. */
    private long promised = Long.MAX_VALUE;

    private Runnable again;
    private Throwable failure;

    Client(Loop loop, FeedOptions options, String since, LiveSource<FeedPosition> source) {
      this.loop = loop;
      this.options = options;
      this.since = since;
      this.from = db.changes.position(db.name, FeedPosition.since(since));
      come(source);
    }

    private void come(LiveSource<FeedPosition> source) {
      listener =
          new LiveListener<>(
              loop.feeds,
              new FeedClient(
                  loop.context,
                  Duration.ofMinutes(1),
                  readers,
                  readers,
                  Session.of(UserContext.ADMIN_PARTY),
                  false),
              this,
              FOREVER);
      listener.begin(new LiveStart<>(source, from));
    }

    void leaveAndComeAgain(LiveSource<FeedPosition> source) {
      from = listener.reached();
      listener.close();
      again = null;
      come(source);
    }

    void giveRoom(long more) {
      room = more;
      if (again != null && more > 0) {
        Runnable action = again;
        again = null;
        action.run();
      }
    }

    @Override
    public void begin(FeedPosition at) {}

    @Override
    public void rows(Rows<FeedPosition> some, int first, int end) {
      assertThat((long) end - first).isLessThanOrEqualTo(promised);
      for (int row = first; row < end; row++) {
        byte[] json = Arrays.copyOfRange(some.json(), some.start(row), some.end(row));
        rows.add(new String(json, StandardCharsets.UTF_8));
      }
      room = room == Long.MAX_VALUE ? room : Math.max(0, room - (end - first));
    }

    @Override
    public long room() {
      promised = room;
      return room;
    }

    @Override
    public void whenRoom(Runnable action) {
      again = action;
    }

    @Override
    public void caughtUp(FeedPosition at) {}

    @Override
    public void heartbeat(FeedPosition at) {}

    @Override
    public void end(FeedEnd reason, FeedPosition at, long following) {
      failure = new AssertionError("it ended: " + reason);
    }

    @Override
    public void fail(Throwable cause) {
      failure = cause;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void every_listener_sees_what_it_wants_to(long seed) {
    random = new Random(seed);
    db = new FeedDatabase(stores.fresh(), 1 + random.nextInt(2));
    List<Client> clients = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      write();
      if (clients.size() < LISTENERS) {
        clients.add(newClient());
      }
      Client some = clients.get(random.nextInt(clients.size()));
      int dice = random.nextInt(10);
      if (dice < 3) {
        long room = random.nextInt(4);
        onLoopOf(some, () -> some.giveRoom(room));
      } else if (dice == 3) {
        LiveSource<FeedPosition> source = source(some.options);
        onLoopOf(some, () -> some.leaveAndComeAgain(source));
      }
    }
    FeedPosition end = db.changes.position(db.name, Since.now());
    clients.forEach(client -> onLoopOf(client, () -> client.giveRoom(Long.MAX_VALUE)));
    for (Client client : clients) {
      Await.until("it has seen all", () -> reached(client).compareTo(end) >= 0);
    }

    List<String> newest = rows(FeedOptions.DEFAULT, "0");
    Map<String, String> sequences = new HashMap<>();
    newest.forEach(row -> sequences.put(part(row, 2), part(row, 1)));
    assertThat(sequences).hasSizeGreaterThan(DOCUMENTS / 2);
    clients.forEach(client -> check(client, sequences));
    assertThat(tails.size())
        .as("selectors that are tried on each document, and all else")
        .isEqualTo(2);
  }

  private FeedPosition reached(Client client) {
    return client.loop.run(
        () -> {
          assertThat(client.failure).isNull();
          return client.listener.reached();
        });
  }

  private void onLoopOf(Client client, Runnable work) {
    client.loop.run(
        () -> {
          work.run();
          return null;
        });
  }

  /** Rows that were not overtaken are those of a normal feed; all others were overtaken. */
  private void check(Client client, Map<String, String> newest) {
    List<String> shown = client.loop.run(() -> List.copyOf(client.rows));
    List<String> order = shown.stream().map(row -> part(row, 1)).toList();
    assertThat(order).isSorted().doesNotHaveDuplicates();
    List<String> lasting =
        shown.stream().filter(row -> part(row, 1).equals(newest.get(part(row, 2)))).toList();
    assertThat(lasting)
        .as("%s since %s", client.options, client.since)
        .isEqualTo(rows(client.options, client.since));
    if (client.options.filter() instanceof FeedFilter.DocumentIds some) {
      assertThat(shown).allMatch(row -> some.ids().contains(part(row, 2)));
    }
  }

  private List<String> rows(FeedOptions options, String since) {
    String answer = db.normal(options, since, ChangesReader.NO_LIMIT, false);
    return Stream.of(answer.split(",?\r?\n")).filter(row -> row.startsWith("{\"seq\":")).toList();
  }

  private static String part(String row, int group) {
    Matcher matcher = ROW.matcher(row);
    assertThat(matcher.matches()).as(row).isTrue();
    return matcher.group(group);
  }

  private Client newClient() {
    String since = history.get(random.nextInt(history.size()));
    FeedOptions options = options();
    Loop loop = loops.get(random.nextInt(2));
    LiveSource<FeedPosition> source = source(options);
    return loop.run(() -> new Client(loop, options, since, source));
  }

  /** It reads the store, so no event loop makes it. */
  private LiveSource<FeedPosition> source(FeedOptions options) {
    return db.changes.live(db.name, options, Since.after(FeedPosition.BEGINNING), events).source();
  }

  private FeedOptions options() {
    boolean docs = random.nextInt(3) == 0;
    List<FieldPath> fields =
        docs && random.nextBoolean()
            ? List.of(FieldPath.parse("v"), FieldPath.parse("_id"))
            : List.of();
    return new FeedOptions(
        random.nextInt(3) == 0, docs, random.nextInt(3) == 0, filter(), 1, fields);
  }

  private FeedFilter filter() {
    return switch (random.nextInt(7)) {
      case 0 -> new FeedFilter.None();
      case 1 -> new FeedFilter.DesignDocuments();
      case 2, 3 -> {
        Set<String> ids = new HashSet<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
          ids.add(id());
        }
        yield new FeedFilter.DocumentIds(ids);
      }
      case 4 -> selector("{\"channel\":%d}".formatted(random.nextInt(3)));
      case 5 ->
          selector(
              "{\"v\":{\"$gt\":%d},\"channel\":\"%d\"}"
                  .formatted(random.nextInt(150), random.nextInt(3)));
      default -> selector("{\"v\":{\"$lt\":%d}}".formatted(random.nextInt(STEPS)));
    };
  }

  private static FeedFilter selector(String json) {
    byte[] body = ("{\"selector\":" + json + "}").getBytes(StandardCharsets.UTF_8);
    return FeedFilter.selected(RequestJson.object(body).get("selector").orElseThrow());
  }

  private String id() {
    int number = random.nextInt(DOCUMENTS);
    return (number % 8 == 0 ? "_design/d" : "d") + number;
  }

  private void write() {
    String id = id();
    List<RevisionId> known = leaves.computeIfAbsent(id, none -> new ArrayList<>());
    if (random.nextInt(6) == 0) {
      String rev = "1-" + "%032x".formatted(random.nextInt(1 << 30));
      db.replicate(id, rev, body(false));
      known.add(RevisionId.of(rev));
    } else if (known.isEmpty()) {
      known.add(db.put(id, null, body(false)));
    } else {
      RevisionId base = known.remove(random.nextInt(known.size()));
      boolean deletes = known.size() > 0 && random.nextInt(4) == 0;
      RevisionId child = db.put(id, base, body(deletes));
      if (!deletes) {
        known.add(child);
      }
    }
    String last = db.changes.updateSequence(db.name).orElseThrow().toString();
    history.add(last);
    events.publishUpdated(
        db.catalogue.open(db.name).instance(), db.changes.updateSequence(db.name).orElseThrow());
  }

  private String body(boolean deleted) {
    Map<String, String> members = new LinkedHashMap<>();
    if (deleted) {
      members.put("_deleted", "true");
    }
    int channel = random.nextInt(3);
    String[] forms = {"%d", "%d.0", "\"%d\"", "[%d]", "{\"0\":%d}"};
    members.put("channel", forms[random.nextInt(forms.length)].formatted(channel));
    members.put("v", Integer.toString(random.nextInt(STEPS)));
    StringBuilder json = new StringBuilder("{");
    members.forEach(
        (name, value) ->
            json.append(json.length() == 1 ? "" : ",")
                .append('"')
                .append(name)
                .append("\":")
                .append(value));
    return json.append('}').toString();
  }
}
