package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.TailRegistry;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LivePage;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LivePage.View;
import lectus.changes.page.LivePage.ViewPage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.Registration;
import lectus.changes.page.Rows;
import lectus.changes.page.Rows.RowsBuilder;
import lectus.changes.page.SessionNotifications;
import lectus.changes.page.Since;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.changes.LoopTail.TailWindow;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.testing.TestSettings;
import lectus.json.FieldPath;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Listeners that a tail cannot serve like the others: it fails them, or has them read on their own.
 * Which pages of it are kept, and which readers they suffice for.
 */
final class TailViewsTest {
  private static final Since<FeedPosition> NOW = Since.now();

  private static final FeedTerms FOREVER =
      new FeedTerms(ChangesReader.NO_LIMIT, OptionalLong.empty(), OptionalLong.empty());

  private static final int LONGEST_KEPT = 1 << 20;

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);

  private final DatabaseHandle life = db.catalogue.open(db.name);

  private final ToldByHand events = new ToldByHand();

  private final Vertx vertx = Vertx.vertx();

  private final Context loop = vertx.getOrCreateContext();

  private final ExecutorService readers = Executors.newFixedThreadPool(3);

  private final TailRegistry tails = new TailRegistry(readers);

  private final LiveFeeds feeds =
      new LiveFeeds(
          tails,
          SessionNotifications.NONE,
          new DeliveryMetrics(version -> 0),
          new TestSettings().toNode().http());

  private final View view = new View("all");

  private final TailWindow<FeedPosition> window = new TailWindow<>();

  @AfterEach
  void stop() {
    vertx.close().await();
    readers.shutdown();
  }

  /** A source that counts the reads for its listener alone. */
  private static final class Source implements LiveSource<FeedPosition> {
    private final LiveSource<FeedPosition> inner;
    private volatile int ownPages;

    /** Whether its own pages show the state just before all writes. */
    private volatile boolean isOld;

    Source(LiveSource<FeedPosition> inner) {
      this.inner = inner;
    }

    @Override
    public Optional<Sharing<FeedPosition>> sharing() {
      return inner.sharing();
    }

    @Override
    public LivePage<FeedPosition> page(FeedPosition from, long limit) {
      ownPages++;
      return isOld
          ? new LivePage<>(Rows.none(), from, true, 0, Optional.empty())
          : inner.page(from, limit);
    }

    @Override
    public Registration listen(Listener listener) {
      return inner.listen(listener);
    }

    @Override
    public boolean hasNews(FeedPosition position) {
      return inner.hasNews(position);
    }
  }

  /** A client that notes what it was shown; used on the event loop only. */
  private final class Client implements FeedSink<FeedPosition> {
    private final Source source;
    private final LiveListener<FeedPosition> listener;
    private final List<String> ids = new ArrayList<>();
    private boolean hasCaughtUp;
    private Throwable failure;

    Client(FeedOptions options) {
      source = new Source(db.changes.live(db.name, options, NOW, events).source());
      listener =
          new LiveListener<>(
              feeds,
              new FeedClient(
                  loop,
                  Duration.ofMinutes(1),
                  readers,
                  readers,
                  Session.of(UserContext.ADMIN_PARTY),
                  false),
              this,
              FOREVER);
    }

    Client startAt(FeedPosition from) {
      onLoop(
          () -> {
            listener.begin(new LiveStart<>(source, from));
            return null;
          });
      return this;
    }

    Client start() {
      startAt(db.changes.position(db.name, NOW));
      Await.until("it has caught up", () -> onLoop(() -> hasCaughtUp));
      return this;
    }

    @Override
    public void begin(FeedPosition from) {}

    @Override
    public void rows(Rows<FeedPosition> rows, int from, int to) {
      for (int row = from; row < to; row++) {
        int length = rows.end(row) - rows.start(row);
        String json = new String(rows.json(), rows.start(row), length, StandardCharsets.UTF_8);
        ids.add(json.replaceAll("\\{\"seq\":\"\\w+\",\"id\":\"(\\w+)\".*", "$1"));
      }
    }

    @Override
    public long room() {
      return Long.MAX_VALUE;
    }

    @Override
    public void whenRoom(Runnable again) {}

    @Override
    public void caughtUp(FeedPosition at) {
      hasCaughtUp = true;
    }

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

    void awaitEnd() {
      FeedPosition end = db.changes.position(db.name, NOW);
      Await.until(
          "it has looked at all", () -> onLoop(() -> listener.reached().compareTo(end) >= 0));
    }

    Throwable failure() {
      return onLoop(() -> failure);
    }

    void awaitIds(List<String> expected) {
      Await.until("its rows are " + expected, () -> onLoop(() -> ids.equals(expected)));
      assertThat(failure()).isNull();
    }
  }

  private <T> T onLoop(Callable<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    loop.runOnContext(
        none -> {
          try {
            done.complete(work.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return done.join();
  }

  private void put(String id, String json) {
    db.put(id, null, json);
    events.publishUpdated(life.instance(), db.changes.updateSequence(db.name).orElseThrow());
  }

  private static FeedOptions selector(String json) {
    byte[] body = ("{\"selector\":" + json + "}").getBytes(StandardCharsets.UTF_8);
    return new FeedOptions(
        false,
        false,
        false,
        FeedFilter.selected(RequestJson.object(body).get("selector").orElseThrow()),
        1);
  }

  @Test
  void a_selector_that_is_too_much_work_fails_its_own_listeners_alone() {
    Client sound = new Client(selector("{\"v\":{\"$exists\":true}}")).start();
    FeedOptions large = selector("{\"v\":{\"$regex\":\"b{400}\"}}");
    List<Client> failing = List.of(new Client(large).start(), new Client(large).start());
    assertThat(tails.size()).as("one reads for all of them").isEqualTo(1);
    put("small", "{\"v\":\"a\"}");
    sound.awaitIds(List.of("small"));
    failing.forEach(Client::awaitEnd);
    int alone = ownPages(failing);
    put("big", "{\"v\":\"" + "a".repeat(200_000) + "\"}");

    for (Client client : failing) {
      Await.until("it fails", () -> client.failure() != null);
      assertThat(client.failure())
          .isInstanceOf(LectusException.class)
          .hasMessageContaining("too much work for the document `big`");
      assertThat(client.ids).isEmpty();
    }
    assertThat(ownPages(failing)).as("they have tried alone").isGreaterThan(alone);
    put("after", "{\"v\":1}");
    sound.awaitIds(List.of("small", "big", "after"));
    assertThat(onLoop(feeds.listeners::size)).isEqualTo(1);
  }

  @Test
  void a_selector_that_is_much_work_is_tried_alone_and_loses_nothing() {
    Client sound = new Client(selector("{\"v\":{\"$exists\":true}}")).start();
    Client dear = new Client(selector("{\"v\":{\"$regex\":\"a{50}b\"}}")).start();
    assertThat(tails.size()).isEqualTo(1);
    put("small", "{\"v\":\"" + "a".repeat(50) + "b\"}");
    dear.awaitIds(List.of("small"));
    sound.awaitIds(List.of("small"));
    int alone = dear.source.ownPages;
    put("big", "{\"v\":\"" + "a".repeat(100_000) + "b\"}");

    dear.awaitIds(List.of("small", "big"));
    assertThat(dear.source.ownPages).as("it has tried alone").isGreaterThan(alone);
    sound.awaitIds(List.of("small", "big"));
    put("after", "{\"v\":\"" + "a".repeat(50) + "b\"}");
    dear.awaitIds(List.of("small", "big", "after"));
    sound.awaitIds(List.of("small", "big", "after"));
  }

  /** Each wants to see other parts of a document that nearly fills a page. */
  @Test
  void listeners_whose_rows_are_too_many_in_one_page_read_it_alone_and_join_again() {
    List<Client> clients = new ArrayList<>();
    for (int field = 0; field < 8; field++) {
      List<FieldPath> fields = List.of(FieldPath.parse("v"), FieldPath.parse("f" + field));
      FeedFilter all = new FeedFilter.None();
      clients.add(new Client(new FeedOptions(false, true, false, all, 1, fields)).start());
    }
    assertThat(tails.size()).isEqualTo(1);
    put("first", "{}");
    List<String> written = new ArrayList<>(List.of("first"));
    clients.forEach(client -> client.awaitIds(written));
    int before = ownPages(clients);
    put("big", "{\"v\":\"" + "x".repeat(180_000) + "\"}");
    written.add("big");
    clients.forEach(client -> client.awaitIds(written));
    assertThat(ownPages(clients)).as("some have read alone").isGreaterThan(before);

    Await.until(
        "nobody reads alone any more",
        () -> {
          int pages = ownPages(clients);
          written.add("d" + written.size());
          put(written.get(written.size() - 1), "{}");
          clients.forEach(client -> client.awaitIds(written));
          return ownPages(clients) == pages;
        });
  }

  private static int ownPages(List<Client> clients) {
    return clients.stream().mapToInt(client -> client.source.ownPages).sum();
  }

  /** Reading on its own does not get it to where the tail has begun to read for it. */
  @Test
  void one_that_cannot_join_yet_tries_again_ever_more_seldom() {
    Client first = new Client(FeedOptions.DEFAULT).start();
    put("a", "{}");
    first.awaitIds(List.of("a"));
    FeedFilter some = new FeedFilter.DocumentIds(Set.of("a", "b"));
    Client late = new Client(new FeedOptions(false, false, false, some, 1));
    late.source.isOld = true;
    long start = System.nanoTime();
    late.startAt(FeedPosition.BEGINNING);
    Await.until("it has tried five times", () -> late.source.ownPages >= 5);
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    assertThat(tookMillis).as("two at once, then pauses").isGreaterThanOrEqualTo(50 + 100 + 200);
    assertThat(late.failure()).isNull();

    late.source.isOld = false;
    late.awaitIds(List.of("a"));
    put("b", "{}");
    late.awaitIds(List.of("a", "b"));
    first.awaitIds(List.of("a", "b"));
  }

  private static FeedPosition at(int number) {
    return FeedPosition.after(Sequence.of(0, new byte[10], number));
  }

  /** Appends the page from one position to the next, with one row of this many bytes. */
  private void append(int from, int bytes) {
    RowsBuilder<FeedPosition> rows = new RowsBuilder<>(bytes);
    rows.json().ascii("x".repeat(bytes));
    rows.endRow(at(from + 1));
    append(from, Map.of(view, new ViewPage.Shown<>(rows.build())));
  }

  private void append(int from, Map<View, ViewPage<FeedPosition>> rows) {
    window.append(new TailPage<>(at(from), rows, at(from + 1), true, Optional.empty()));
  }

  @Test
  void it_begins_with_the_first_page() {
    assertThat(window.covers(FeedPosition.BEGINNING)).as("there is nothing to miss").isTrue();
    append(3, 10);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
    assertThat(window.pagesBehind(at(3))).hasSize(1);
    assertThat(window.pagesBehind(at(4))).isEmpty();
  }

  @Test
  void it_keeps_the_last_page_and_so_many_bytes() {
    append(0, TailWindow.MAX_BYTES / 2);
    append(1, TailWindow.MAX_BYTES / 2);
    assertThat(window.covers(at(0))).isTrue();
    append(2, 1);
    assertThat(window.covers(at(0))).isFalse();
    assertThat(window.covers(at(1))).isTrue();
    append(3, 10 * TailWindow.MAX_BYTES);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
  }

  @Test
  void a_long_page_is_not_kept() {
    append(0, 1);
    append(1, LONGEST_KEPT);
    assertThat(window.covers(at(1))).isTrue();
    append(2, LONGEST_KEPT + 1);
    assertThat(window.covers(at(2))).isFalse();
    assertThat(window.covers(at(3))).isTrue();
    assertThat(window.pagesBehind(at(1))).isEmpty();
  }

  @Test
  void it_keeps_so_many_pages() {
    for (int i = 0; i < TailWindow.MAX_PAGES; i++) {
      append(i, 1);
    }
    assertThat(window.covers(at(0))).isTrue();
    append(TailWindow.MAX_PAGES, 1);
    assertThat(window.covers(at(0))).isFalse();
    assertThat(window.covers(at(1))).isTrue();
  }

  @Test
  void pages_in_which_nothing_is_shown_are_not_kept() {
    append(0, 1);
    for (int i = 1; i < 3 * TailWindow.MAX_PAGES; i++) {
      append(i, Map.of());
    }
    assertThat(window.covers(at(0))).isTrue();
    assertThat(window.pagesBehind(at(0))).hasSize(1);
  }

  @Test
  void equal_rows_of_several_views_count_once() {
    RowsBuilder<FeedPosition> builder = new RowsBuilder<>(1);
    builder.json().ascii("x".repeat(TailWindow.MAX_BYTES / 3));
    builder.endRow(at(1));
    Rows<FeedPosition> rows = builder.build();
    ViewPage<FeedPosition> shown = new ViewPage.Shown<>(rows);
    append(
        0, Map.of(view, shown, new View("b"), shown, new View("c"), shown, new View("d"), shown));
    append(1, TailWindow.MAX_BYTES / 3);
    assertThat(window.covers(at(0))).isTrue();
  }
}
