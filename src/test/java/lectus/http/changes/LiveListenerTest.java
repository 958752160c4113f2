package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
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
import lectus.changes.page.LiveSource.TailReader;
import lectus.changes.page.Registration;
import lectus.changes.page.Rows;
import lectus.changes.page.SessionNotifications;
import lectus.changes.page.Since;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.changes.testing.WatchedSource;
import lectus.config.WebSocketKeys;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.error.FoundationDbError;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.changes.LiveListener.JoinPauses;
import lectus.http.exchange.DeliveryMetrics;
import lectus.http.testing.TestSettings;
import lectus.store.Versionstamp;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Listeners that read on their own, join the tail, leave it and join again. */
final class LiveListenerTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final FeedTerms FOREVER =
      new FeedTerms(ChangesReader.NO_LIMIT, OptionalLong.empty(), OptionalLong.empty());

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
  private static final int ATTEMPTS = 12;
  private final JoinPauses<FeedPosition> pauses = new JoinPauses<>();

  @AfterEach
  void stop() {
    vertx.close().await();
    readers.shutdown();
  }

  /** A client with as much room as the test gives it. */
  private class Client implements FeedSink<FeedPosition> {
    private final WatchedSource<FeedPosition> source;
    private final LiveListener<FeedPosition> listener;
    final StringBuilder ids = new StringBuilder();
    FeedPosition endOfTail;
    private long room = Long.MAX_VALUE;
    private Runnable again;
    private int timesCaughtUp;
    private FeedEnd end;
    private FeedPosition endedAt;
    private long pending;

    Client(FeedTerms terms, FeedOptions options) {
      source = new WatchedSource<>(db.changes.live(db.name, options, NOW, events).source());
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
              terms);
    }

    Client(LiveSource<FeedPosition> own, Executor executor) {
      this(FOREVER, own, executor);
    }

    Client(FeedTerms terms, LiveSource<FeedPosition> own, Executor executor) {
      source = new WatchedSource<>(own);
      listener =
          new LiveListener<>(
              feeds,
              new FeedClient(
                  loop,
                  Duration.ofMinutes(1),
                  executor,
                  executor,
                  Session.of(UserContext.ADMIN_PARTY),
                  false),
              this,
              terms);
    }

    Client start(FeedPosition from) {
      onLoop(
          () -> {
            listener.begin(new LiveStart<>(source, from));
            return null;
          });
      return this;
    }

    @Override
    public void begin(FeedPosition from) {}

    @Override
    public void rows(Rows<FeedPosition> rows, int from, int to) {
      for (int row = from; row < to; row++) {
        String json =
            new String(
                rows.json(),
                rows.start(row),
                rows.end(row) - rows.start(row),
                StandardCharsets.UTF_8);
        ids.append(json.replaceAll(".*\"id\":\"(\\w+)\".*", "$1 "));
      }
      room -= to - from;
    }

    @Override
    public long room() {
      return room;
    }

    @Override
    public void whenRoom(Runnable action) {
      again = action;
    }

    void giveRoom(long rows) {
      onLoop(
          () -> {
            room = rows;
            Runnable action = again;
            again = null;
            action.run();
            return null;
          });
    }

    @Override
    public void caughtUp(FeedPosition at) {
      timesCaughtUp++;
    }

    @Override
    public void heartbeat(FeedPosition at) {}

    @Override
    public void end(FeedEnd reason, FeedPosition at, long following) {
      end = reason;
      endedAt = at;
      pending = following;
    }

    @Override
    public void fail(Throwable failure) {
      throw new AssertionError(failure);
    }

    String ids() {
      return onLoop(() -> ids.toString().trim());
    }

    void awaitIds(String expected) {
      Await.until("its rows are " + expected, () -> ids().equals(expected));
    }

    Client awaitCaughtUp() {
      Await.until("it has caught up", () -> onLoop(() -> timesCaughtUp > 0));
      return this;
    }
  }

  private static final Since<FeedPosition> NOW = Since.now();

  private <T> T onLoop(Callable<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    loop.runOnContext(
        none -> {
          try {
            done.complete(work.call());
          } catch (Exception e) {
            done.completeExceptionally(e);
          }
        });
    return done.join();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Client client() {
    return new Client(FOREVER, FeedOptions.DEFAULT);
  }

  private void put(String id) {
    db.put(id, null, "{}");
    tell();
  }

  private void tell() {
    events.publishUpdated(life.instance(), end().sequence().orElseThrow());
  }

  private FeedPosition end() {
    return db.changes.position(db.name, NOW);
  }

  @Test
  void a_commit_costs_one_read_for_thousands_of_listeners() {
    put("before");
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      clients.add(client().start(end()));
    }
    clients.forEach(Client::awaitCaughtUp);
    int before = clients.stream().mapToInt(client -> client.source.pages()).sum();
    put("a");
    clients.forEach(client -> client.awaitIds("a"));

    int after = clients.stream().mapToInt(client -> client.source.pages()).sum();
    assertThat(after - before).isEqualTo(1);
    assertThat(events.listeners()).isEqualTo(1);
    onLoop(
        () -> {
          clients.forEach(client -> client.listener.close());
          return null;
        });
    assertThat(events.listeners()).isZero();
    assertThat(tails.size()).isZero();
  }

  @Test
  void requests_are_served_while_a_page_goes_to_thousands() {
    AtomicInteger had = new AtomicInteger();
    AtomicInteger hadAtRequest = new AtomicInteger();
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      clients.add(
          new Client(FOREVER, FeedOptions.DEFAULT) {
            @Override
            public void rows(Rows<FeedPosition> rows, int from, int to) {
              super.rows(rows, from, to);
              if (had.incrementAndGet() == 1) {
                loop.runOnContext(none -> hadAtRequest.set(had.get()));
              }
            }
          }.start(end()));
    }
    clients.forEach(Client::awaitCaughtUp);
    put("a");
    clients.forEach(client -> client.awaitIds("a"));

    assertThat(hadAtRequest.get()).isBetween(1, 999);
  }

  /** No place in the tail changes while a page is between two turns of the event loop. */
  @Test
  void who_comes_and_goes_while_a_page_is_handed_out_disturbs_nobody() {
    List<Client> clients = new ArrayList<>();
    List<Client> newcomers = Stream.generate(this::client).limit(100).toList();
    AtomicBoolean came = new AtomicBoolean();
    Runnable comeAndGo =
        () -> {
          clients.subList(0, 600).forEach(client -> client.listener.close());
          for (Client newcomer : newcomers) {
            newcomer.listener.begin(new LiveStart<>(newcomer.source, clients.get(0).endOfTail));
          }
          came.set(true);
        };
    for (int i = 0; i < 1_000; i++) {
      Client client =
          new Client(FOREVER, FeedOptions.DEFAULT) {
            @Override
            public void rows(Rows<FeedPosition> rows, int from, int to) {
              super.rows(rows, from, to);
              if (this == clients.get(0) && ids.length() == 2) {
                loop.runOnContext(none -> comeAndGo.run());
              }
            }
          };
      clients.add(client);
      client.endOfTail = end();
      client.start(client.endOfTail);
    }
    clients.forEach(Client::awaitCaughtUp);
    put("a");
    clients.subList(600, 1_000).forEach(client -> client.awaitIds("a"));
    Await.until("newcomers came", came::get);
    newcomers.forEach(client -> client.awaitIds("a"));
    put("b");

    clients.subList(600, 1_000).forEach(client -> client.awaitIds("a b"));
    newcomers.forEach(client -> client.awaitIds("a b"));
    assertThat(clients.get(0).ids()).isEqualTo("a");
    assertThat(clients.get(599).ids()).as("it left before its turn").isEmpty();
    assertThat(onLoop(feeds.listeners::size)).isEqualTo(500);
  }

  @Test
  void a_listener_that_is_slow_does_not_keep_others_waiting_and_loses_nothing() {
    Client quick = client().start(end()).awaitCaughtUp();
    Client slow = client().start(end()).awaitCaughtUp();
    onLoop(() -> slow.room = 1);
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      put("d" + i);
      all.append(i == 0 ? "" : " ").append("d").append(i);
      quick.awaitIds(all.toString());
    }
    assertThat(slow.ids()).isEqualTo("d0");
    slow.giveRoom(10);
    Await.until("it has taken ten more", () -> slow.ids().endsWith("d10"));
    slow.giveRoom(Long.MAX_VALUE);
    slow.awaitIds(all.toString());
    Await.until(
        "it has caught up again",
        () -> slow.source.pages() > 0 && onLoop(() -> slow.timesCaughtUp > 1));

    int alone = slow.source.pages();
    put("z");
    slow.awaitIds(all + " z");
    assertThat(slow.source.pages()).as("it has joined again").isEqualTo(alone);
    assertThat(quick.ids()).isEqualTo(all + " z");
  }

  /** The tail hands out a row while the new listener's page, without that row, is on its way. */
  @Test
  void a_newcomer_gets_from_the_window_what_its_own_page_had_not() {
    Client first = client().start(end()).awaitCaughtUp();
    Client newcomer = client();
    newcomer.source.afterNextPage(
        () -> {
          put("between");
          first.awaitIds("between");
        });
    newcomer.start(FeedPosition.BEGINNING);
    newcomer.awaitIds("between");
    put("a");

    newcomer.awaitIds("between a");
    first.awaitIds("between a");
  }

  /** The new listener's own page has a row that the tail has not read yet. */
  @Test
  void a_newcomer_skips_what_it_has_when_the_tail_gets_there() {
    Client first = client().start(end()).awaitCaughtUp();
    Await.until("the tail reads", () -> first.source.pages() > 1);
    CountDownLatch goOn = new CountDownLatch(1);
    first.source.beforeNextPage(() -> await(goOn));
    put("a");
    put("b");
    Client newcomer = client().start(FeedPosition.BEGINNING);
    newcomer.awaitCaughtUp();
    assertThat(newcomer.ids()).isEqualTo("a b");
    assertThat(first.ids()).isEmpty();
    put("c");
    goOn.countDown();

    newcomer.awaitIds("a b c");
    first.awaitIds("a b c");
  }

  /** The tail gets so far ahead that its window no longer reaches the new listener's page. */
  @Test
  void a_newcomer_too_far_behind_reads_on_its_own_again() {
    FeedOptions documents = new FeedOptions(false, true, false, new FeedFilter.None(), 1);
    Client first = new Client(FOREVER, documents).start(end()).awaitCaughtUp();
    Client newcomer = new Client(FOREVER, documents);
    StringBuilder all = new StringBuilder();
    newcomer.source.afterNextPage(
        () -> {
          for (int i = 0; i < 4; i++) {
            db.put("d" + i, null, "{\"v\":\"" + "x".repeat(60_000) + "\"}");
            tell();
            all.append(i == 0 ? "" : " ").append("d").append(i);
            first.awaitIds(all.toString());
          }
        });
    newcomer.start(FeedPosition.BEGINNING);

    newcomer.awaitIds("d0 d1 d2 d3");
    assertThat(newcomer.source.pages()).isGreaterThan(1);
    put("z");
    newcomer.awaitIds("d0 d1 d2 d3 z");
    first.awaitIds("d0 d1 d2 d3 z");
  }

  @Test
  void the_bound_of_one_listener_is_not_that_of_others() {
    Client bounded = client();
    put("x");
    FeedPosition here = end();
    FeedPosition bound =
        FeedPosition.after(new Sequence(0, Versionstamp.upTo(Long.MAX_VALUE / 2).bytes()));
    onLoop(
        () -> {
          bounded.listener.begin(new LiveStart<>(bounded.source, here).until(bound));
          return null;
        });
    bounded.awaitCaughtUp();
    Client free = client().start(here).awaitCaughtUp();
    Await.until("it has joined", () -> onLoop(() -> free.listener.reached() != null));
    put("y");
    free.awaitIds("y");
    assertThat(onLoop(() -> free.listener.bound())).isEmpty();
  }

  /** A source whose tail is crowded with views, and whose first own page was read long ago. */
  private record Crowding(
      LiveSource<FeedPosition> inner, AtomicBoolean crowded, AtomicReference<FeedPosition> stale)
      implements LiveSource<FeedPosition> {
    @Override
    public Optional<Sharing<FeedPosition>> sharing() {
      return inner
          .sharing()
          .map(it -> new Sharing<>(it.tail(), it.view(), () -> reader(it), it.news()));
    }

    private TailReader<FeedPosition> reader(Sharing<FeedPosition> sharing) {
      TailReader<FeedPosition> all = sharing.reader().get();
      return new TailReader<>() {
        @Override
        public void add(View view) {
          all.add(view);
        }

        @Override
        public void remove(View view) {
          all.remove(view);
        }

        @Override
        public TailPage<FeedPosition> page(FeedPosition from) {
          TailPage<FeedPosition> page = all.page(from);
          if (page.views().isEmpty() || !crowded.getAndSet(false)) {
            return page;
          }
          Map<View, ViewPage<FeedPosition>> views = new HashMap<>();
          page.views().keySet().forEach(it -> views.put(it, new ViewPage.Crowded<>()));
          return new TailPage<>(page.from(), views, page.next(), page.reachedEnd(), page.end());
        }
      };
    }

    @Override
    public LivePage<FeedPosition> page(FeedPosition from, long limit) {
      FeedPosition before = stale.getAndSet(null);
      return before == null
          ? inner.page(from, limit)
          : new LivePage<>(Rows.none(), before, true, 0, Optional.empty());
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

  @Test
  void who_joins_behind_a_crowded_page_reads_it_alone() {
    put("x");
    FeedPosition here = end();
    AtomicBoolean crowded = new AtomicBoolean();
    LiveSource<FeedPosition> plain =
        db.changes.live(db.name, FeedOptions.DEFAULT, NOW, events).source();
    AtomicBoolean atOnce = new AtomicBoolean(true);
    // Its first page is at hand.
    Executor own =
        task -> (atOnce.getAndSet(false) ? (Executor) Runnable::run : readers).execute(task);
    Client newcomer = new Client(new Crowding(plain, crowded, new AtomicReference<>(here)), own);
    AtomicBoolean come = new AtomicBoolean();
    Executor executor =
        task -> {
          if (come.getAndSet(false)) {
            newcomer.listener.begin(new LiveStart<>(newcomer.source, here));
          }
          readers.execute(task);
        };
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      clients.add(
          new Client(new Crowding(plain, crowded, new AtomicReference<>()), executor).start(here));
    }
    clients.forEach(Client::awaitCaughtUp);
    clients.forEach(
        client -> Await.until("joined", () -> onLoop(() -> client.listener.reached() != null)));
    onLoop(
        () -> {
          crowded.set(true);
          come.set(true);
          return null;
        });
    put("between");
    clients.forEach(client -> client.awaitIds("between"));
    put("a");
    clients.forEach(client -> client.awaitIds("between a"));
    newcomer.awaitIds("between a");
  }

  /**
   * A source whose tail is read differently.
   *
   * @param alone the position after which its own pages were read
   */
  private record Tailored(
      LiveSource<FeedPosition> inner,
      UnaryOperator<TailPage<FeedPosition>> tail,
      List<FeedPosition> alone)
      implements LiveSource<FeedPosition> {
    @Override
    public Optional<Sharing<FeedPosition>> sharing() {
      return inner
          .sharing()
          .map(it -> new Sharing<>(it.tail(), it.view(), () -> reader(it), it.news()));
    }

    private TailReader<FeedPosition> reader(Sharing<FeedPosition> sharing) {
      TailReader<FeedPosition> all = sharing.reader().get();
      return new TailReader<>() {
        @Override
        public void add(View view) {
          all.add(view);
        }

        @Override
        public void remove(View view) {
          all.remove(view);
        }

        @Override
        public TailPage<FeedPosition> page(FeedPosition from) {
          return tail.apply(all.page(from));
        }
      };
    }

    @Override
    public LivePage<FeedPosition> page(FeedPosition from, long limit) {
      alone.add(from);
      return inner.page(from, limit);
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

  private Tailored tailored(FeedOptions options, UnaryOperator<TailPage<FeedPosition>> tail) {
    LiveSource<FeedPosition> plain = db.changes.live(db.name, options, NOW, events).source();
    return new Tailored(plain, tail, new CopyOnWriteArrayList<>());
  }

  /** The page at the tail's end has rows for nobody, so it is not in the window. */
  @Test
  void a_newcomer_that_gets_the_last_rows_from_the_window_has_caught_up() {
    UnaryOperator<TailPage<FeedPosition>> inTwoPages =
        page ->
            page.views().isEmpty()
                ? page
                : new TailPage<>(page.from(), page.views(), page.next(), false, page.end());
    Tailored source = tailored(FeedOptions.DEFAULT, inTwoPages);
    Client first = new Client(source, readers).start(end()).awaitCaughtUp();
    Client newcomer = client();
    newcomer.source.afterNextPage(
        () -> {
          int before = onLoop(() -> first.timesCaughtUp);
          put("between");
          Await.until("the end came", () -> onLoop(() -> first.timesCaughtUp > before));
        });
    newcomer.start(FeedPosition.BEGINNING);

    newcomer.awaitIds("between");
    Await.until("it has caught up again", () -> onLoop(() -> newcomer.timesCaughtUp == 2));
  }

  @Test
  void who_leaves_the_tail_goes_on_where_the_tail_was() {
    AtomicBoolean crowded = new AtomicBoolean();
    UnaryOperator<TailPage<FeedPosition>> crowding =
        page -> {
          if (!crowded.get()) {
            return page;
          }
          Map<View, ViewPage<FeedPosition>> views = new HashMap<>();
          page.views().keySet().forEach(it -> views.put(it, new ViewPage.Crowded<>()));
          return new TailPage<>(page.from(), views, page.next(), page.reachedEnd(), page.end());
        };
    FeedFilter one = new FeedFilter.DocumentIds(Set.of("rare"));
    Tailored source = tailored(new FeedOptions(false, false, false, one, 1), crowding);
    Client rare = new Client(source, readers).start(end()).awaitCaughtUp();
    put("x");
    put("y");
    FeedPosition behind = end();
    Await.until(
        "the tail has come there",
        () -> onLoop(() -> rare.listener.reached()).compareTo(behind) >= 0);
    int before = source.alone().size();
    crowded.set(true);
    put("rare");

    rare.awaitIds("rare");
    assertThat(source.alone().get(before)).isGreaterThanOrEqualTo(behind);
  }

  @Test
  void a_limit_ends_a_listener_inside_a_page_of_the_tail() {
    FeedTerms two = new FeedTerms(2, OptionalLong.empty(), OptionalLong.empty());
    Client limited = new Client(two, FeedOptions.DEFAULT).start(end()).awaitCaughtUp();
    db.putAll("d", 5);
    tell();

    Await.until("it ends", () -> onLoop(() -> limited.end instanceof FeedEnd.LimitReached));
    assertThat(limited.ids()).isEqualTo("d0 d1");
    assertThat(onLoop(() -> limited.pending)).isEqualTo(3);
    Client next = client().start(onLoop(() -> limited.endedAt));
    next.awaitIds("d2 d3 d4");
  }

  @Test
  void a_listener_ends_where_the_tail_is_though_a_filter_let_nothing_through() {
    FeedOptions design = new FeedOptions(false, false, false, new FeedFilter.DesignDocuments(), 1);
    Client client = new Client(FOREVER, design).start(end()).awaitCaughtUp();
    put("a");
    String last = end().text();
    Await.until(
        "it reaches the end", () -> onLoop(() -> client.listener.reached().text().equals(last)));
    onLoop(
        () -> {
          client.listener.end(new FeedEnd.TimedOut());
          return null;
        });

    assertThat(client.ids()).isEmpty();
    assertThat(client.endedAt.text()).isEqualTo(last);
  }

  /** A source of a store that may be silent. */
  private record Silent(
      LiveSource<FeedPosition> inner, AtomicBoolean isSilent, AtomicInteger askedInVain)
      implements LiveSource<FeedPosition> {
    private <T> T answered(Supplier<T> asked) {
      if (isSilent.get()) {
        askedInVain.incrementAndGet();
        throw new FDBException("silent", FoundationDbError.TRANSACTION_TIMED_OUT.code());
      }
      return asked.get();
    }

    @Override
    public Optional<Sharing<FeedPosition>> sharing() {
      return inner.sharing();
    }

    @Override
    public LivePage<FeedPosition> page(FeedPosition from, long limit) {
      return answered(() -> inner.page(from, limit));
    }

    @Override
    public long pendingBehind(FeedPosition position) {
      return answered(() -> inner.pendingBehind(position));
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

  private Silent silent(boolean isSilent) {
    LiveSource<FeedPosition> plain =
        db.changes.live(db.name, FeedOptions.DEFAULT, NOW, events).source();
    return new Silent(plain, new AtomicBoolean(isSilent), new AtomicInteger());
  }

  private void end(Client client, FeedEnd reason) {
    onLoop(
        () -> {
          client.listener.end(reason);
          return null;
        });
  }

  @Test
  void one_that_waits_for_a_silent_store_ends_where_it_is() {
    put("x");
    Silent source = silent(true);
    Client client = new Client(source, readers).start(FeedPosition.BEGINNING);
    Await.until("it asks in vain", () -> source.askedInVain().get() > 0);
    end(client, new FeedEnd.ServerStopping());

    Await.until("it ends", () -> onLoop(() -> client.end instanceof FeedEnd.ServerStopping));
    assertThat(client.endedAt).isEqualTo(FeedPosition.BEGINNING);
  }

  @Test
  void one_that_waits_for_room_ends_where_it_is() {
    db.putAll("d", 5);
    Client client = client();
    client.room = 2;
    client.start(FeedPosition.BEGINNING);
    client.awaitIds("d0 d1");
    Await.until("it waits for room", () -> onLoop(() -> client.again != null));
    onLoop(
        () -> {
          client.listener.end(new FeedEnd.ServerStopping());
          return null;
        });

    assertThat(client.end).isInstanceOf(FeedEnd.ServerStopping.class);
    assertThat(client().start(client.endedAt).awaitCaughtUp().ids()).isEqualTo("d2 d3 d4");
    onLoop(
        () -> {
          client.again.run();
          return null;
        });
    assertThat(client.ids()).isEqualTo("d0 d1");
  }

  /** A source whose first pages come to no end. */
  private record Endless(LiveSource<FeedPosition> inner, AtomicInteger pages)
      implements LiveSource<FeedPosition> {
    private static final int PAGES = 9;

    @Override
    public Optional<Sharing<FeedPosition>> sharing() {
      return inner.sharing();
    }

    @Override
    public LivePage<FeedPosition> page(FeedPosition from, long limit) {
      assertThat(limit).isZero();
      return pages.incrementAndGet() < PAGES
          ? new LivePage<>(Rows.none(), from, false, 1, Optional.empty())
          : LivePage.over(from, new FeedEnd.DatabaseDeleted());
    }

    @Override
    public boolean isFindingOut(FeedPosition position) {
      return pages.get() < PAGES;
    }

    @Override
    public Registration listen(Listener listener) {
      return inner.listen(listener);
    }

    @Override
    public boolean hasNews(FeedPosition position) {
      return false;
    }
  }

  @Test
  void one_that_has_asked_for_no_rows_reads_on_until_it_knows_whether_there_is_an_end() {
    Endless source = new Endless(silent(false).inner(), new AtomicInteger());
    Client client =
        new Client(source, readers) {
          @Override
          public boolean lacksRequestsOnly() {
            return true;
          }
        };
    client.room = 0;
    client.start(FeedPosition.BEGINNING);
    Await.until("it ends", () -> onLoop(() -> client.end instanceof FeedEnd.DatabaseDeleted));
    assertThat(source.pages()).hasValue(Endless.PAGES);
  }

  @Test
  void rows_that_count_sequences_are_read_for_one_alone() {
    FeedOptions everyThird = new FeedOptions(false, false, false, new FeedFilter.None(), 3);
    Client one = new Client(FOREVER, everyThird).start(end()).awaitCaughtUp();
    Client other = new Client(FOREVER, everyThird).start(end()).awaitCaughtUp();
    put("a");
    one.awaitIds("a");
    other.awaitIds("a");

    assertThat(tails.size()).isZero();
    Await.until("both listen", () -> events.listeners() == 2);
    onLoop(
        () -> {
          one.listener.close();
          other.listener.close();
          return null;
        });
    assertThat(events.listeners()).isZero();
  }

  /** A client that cannot take rows. */
  private final class Broken extends Client {
    private Throwable failure;

    Broken() {
      super(FOREVER, FeedOptions.DEFAULT);
    }

    @Override
    public void rows(Rows<FeedPosition> rows, int from, int to) {
      throw new IllegalStateException("broken");
    }

    @Override
    public void fail(Throwable cause) {
      failure = cause;
    }

    void awaitFailure() {
      Await.until("it fails", () -> onLoop(() -> failure != null));
      assertThat(failure).hasMessage("broken");
    }
  }

  @Test
  void an_error_in_a_page_of_its_own_ends_a_listener() {
    put("a");
    Broken broken = new Broken();
    broken.start(FeedPosition.BEGINNING);

    broken.awaitFailure();
    assertThat(onLoop(feeds.listeners::size)).isZero();
  }

  @Test
  void an_error_of_one_listener_does_not_concern_the_others() {
    Broken broken = new Broken();
    broken.start(end()).awaitCaughtUp();
    Client sound = client().start(end()).awaitCaughtUp();
    put("a");

    sound.awaitIds("a");
    broken.awaitFailure();
    assertThat(onLoop(feeds.listeners::size)).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "1,1000",
    "999,1000",
    "1000,1000",
    "1001,1001",
    "86399999,86399999",
    "86400000,86400000",
    "86400001,86400000",
    "9223372036854775807,86400000"
  })
  void signs_of_life_come_every_second_to_every_day(long wanted, long granted) {
    assertThat(new FeedTerms(1, OptionalLong.of(wanted), OptionalLong.empty()).heartbeatMillis())
        .hasValue(granted);
  }

  @Test
  void none_that_are_wanted_are_none() {
    assertThat(new FeedTerms(1, OptionalLong.empty(), OptionalLong.of(5)).heartbeatMillis())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0,86400000", "300,150000", "2,1000", "1,500", "86400,43200000"})
  void the_longest_silence_is_half_of_the_patience_or_a_day(int idleSeconds, long millis) {
    assertThat(new TestSettings().idleTimeoutSeconds(idleSeconds).toNode().http())
        .satisfies(http -> assertThat(http.longestSilenceMillis()).isEqualTo(millis));
  }

  @ParameterizedTest
  @CsvSource({"300,1,1000", "300,1000,1000", "300,1001,1001", "300,9999999,7000", "1,1,500"})
  void a_sockets_client_is_pinged_once_a_second_at_most(int idleSeconds, long wanted, long millis) {
    TestSettings settings =
        new TestSettings().idleTimeoutSeconds(idleSeconds).with(WebSocketKeys.PING_SECONDS, 7);
    assertThat(settings.toNode().http())
        .satisfies(http -> assertThat(http.pingMillis(OptionalLong.of(wanted))).isEqualTo(millis));
  }

  private static FeedPosition at(int number) {
    byte[] versionstamp = new byte[12];
    versionstamp[0] = (byte) number;
    return FeedPosition.after(new Sequence(0, versionstamp));
  }

  private long[] refused(int times, FeedPosition position) {
    return LongStream.range(0, times).map(attempt -> pauses.refused(position)).toArray();
  }

  @Test
  void who_comes_further_each_time_does_not_wait() {
    for (int number = 1; number < ATTEMPTS; number++) {
      assertThat(pauses.refused(at(number))).isZero();
    }
  }

  @Test
  void who_comes_no_further_waits_twice_as_long_each_time_up_to_a_limit() {
    assertThat(refused(ATTEMPTS, at(1)))
        .containsExactly(0, 50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000);
  }

  @Test
  void pauses_begin_anew_where_it_has_come_further() {
    refused(ATTEMPTS, at(1));
    assertThat(refused(2, at(2))).containsExactly(0, JoinPauses.FIRST_MILLIS);
  }
}
