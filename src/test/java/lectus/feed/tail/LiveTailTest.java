package lectus.feed.tail;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.feed.LivePage;
import lectus.feed.filter.FeedFilter;
import lectus.feed.page.FeedOptions;
import lectus.feed.page.FeedPosition;
import lectus.feed.page.Since;
import lectus.feed.testing.FeedDatabase;
import lectus.feed.testing.ToldByHand;
import lectus.feed.testing.WatchedSource;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is read once for all, with the readers' threads turned by hand. */
@Timeout(60)
final class LiveTailTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
  private final DatabaseHandle life = db.catalogue.open(db.name);
  private final ToldByHand events = new ToldByHand();
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final LiveTails tails = new LiveTails(waiting::add);
  private final WatchedSource<FeedPosition> source = source(FeedOptions.DEFAULT);

  private WatchedSource<FeedPosition> source(FeedOptions options) {
    return new WatchedSource<>(
        db.changes.live(db.name, options, new Since.Beginning(), events).source());
  }

  /** An outlet that takes pages when it is told to. */
  private static final class Taker implements TailOutlet<FeedPosition> {
    private final List<LivePage<FeedPosition>> pages = new ArrayList<>();
    private final Queue<Runnable> untaken = new ArrayDeque<>();
    private Throwable failure;

    @Override
    public synchronized void deliver(LivePage<FeedPosition> page, Runnable taken) {
      pages.add(page);
      untaken.add(taken);
    }

    @Override
    public synchronized void fail(Throwable failure) {
      this.failure = failure;
    }

    void takeAll() {
      while (!untaken.isEmpty()) {
        untaken.remove().run();
      }
    }

    String ids() {
      return pages.stream()
          .map(
              page ->
                  new String(page.rows().json(), StandardCharsets.UTF_8)
                      .replaceAll("\\{\"seq\":\"[0-9a-f]+\",\"id\":\"(\\w+)\"[^]]*]}", "$1 "))
          .collect(Collectors.joining())
          .trim();
    }
  }

  private void put(String id) {
    db.put(id, null, "{}");
    events.publishUpdated(life.instance(), last());
  }

  private Sequence last() {
    return db.changes.updateSequence(db.name).orElseThrow();
  }

  private FeedPosition end() {
    return db.changes
        .updateSequence(db.name)
        .map(FeedPosition::after)
        .orElse(FeedPosition.BEGINNING);
  }

  private void turn() {
    for (Runnable read = waiting.poll(); read != null; read = waiting.poll()) {
      read.run();
    }
  }

  private Taker attached() {
    Taker taker = new Taker();
    assertThat(tails.attach(source, end(), taker)).isPresent();
    return taker;
  }

  @Test
  void a_page_is_read_once_for_all_outlets() {
    Taker one = attached();
    Taker other = attached();
    turn();
    one.takeAll();
    other.takeAll();
    int before = source.pages();
    put("a");
    turn();

    assertThat(source.pages()).isEqualTo(before + 1);
    assertThat(one.ids()).isEqualTo("a");
    assertThat(other.pages).last().isSameAs(one.pages.get(one.pages.size() - 1));
  }

  @Test
  void what_came_before_anybody_was_told_is_read_all_the_same() {
    FeedPosition before = end();
    db.put("unheard", null, "{}");
    Taker taker = new Taker();
    tails.attach(source, before, taker);
    turn();

    assertThat(taker.ids()).isEqualTo("unheard");
  }

  @Test
  void what_comes_while_a_page_is_read_is_in_the_next_one() {
    Taker taker = attached();
    source.afterNextPage(() -> put("late"));
    turn();
    assertThat(taker.pages.get(0).rows().isEmpty()).isTrue();
    taker.takeAll();
    turn();

    assertThat(taker.ids()).isEqualTo("late");
  }

  @Test
  void news_that_are_none_cost_one_read_at_most() {
    put("a");
    Taker taker = attached();
    turn();
    taker.takeAll();
    int before = source.pages();
    events.publishUpdated(life.instance(), last());
    events.publishUpdated(life.instance(), last());
    turn();
    assertThat(source.pages()).as("the level is no higher than the position").isEqualTo(before);

    byte[] high = new byte[12];
    high[0] = 0x7f;
    events.publishUpdated(life.instance(), new Sequence(last().incarnation(), high));
    turn();
    taker.takeAll();
    turn();
    assertThat(source.pages()).as("a level that nothing in the store has").isEqualTo(before + 1);
  }

  @Test
  void an_outlet_begins_inside_the_window_or_not_at_all() {
    put("a");
    FeedPosition behindA = end();
    Taker first = attached();
    turn();
    first.takeAll();
    put("b");
    put("c");
    turn();
    first.takeAll();

    Taker inside = new Taker();
    Optional<TailWindow<FeedPosition>> window = tails.attach(source, behindA, inside);
    assertThat(window).isPresent();
    assertThat(window.get().end()).isEqualTo(end());
    assertThat(window.get().pagesBehind(behindA)).isNotEmpty();
    assertThat(window.get().pagesBehind(end())).isEmpty();
    assertThat(tails.attach(source, FeedPosition.BEGINNING, new Taker())).isEmpty();
    put("d");
    turn();
    assertThat(inside.ids()).isEqualTo("d");
  }

  @Test
  void the_window_keeps_the_last_page_and_so_many_bytes() {
    FeedOptions documents = new FeedOptions(false, true, false, new FeedFilter.None(), 1);
    WatchedSource<FeedPosition> long_rows = source(documents);
    FeedPosition beginning = end();
    Taker taker = new Taker();
    tails.attach(long_rows, beginning, taker);
    String half = "{\"v\":\"" + "x".repeat(TailWindow.MOST_BYTES / 2) + "\"}";
    List<FeedPosition> behind = new ArrayList<>();
    for (String id : List.of("a", "b", "c")) {
      turn();
      taker.takeAll();
      db.put(id, null, half);
      events.publishUpdated(life.instance(), last());
      behind.add(end());
    }
    turn();

    assertThat(tails.attach(long_rows, beginning, new Taker())).isEmpty();
    assertThat(tails.attach(long_rows, behind.get(0), new Taker())).isEmpty();
    assertThat(tails.attach(long_rows, behind.get(1), new Taker())).isPresent();
  }

  @Test
  void reading_waits_for_outlets_that_are_busy() {
    Taker quick = attached();
    Taker busy = attached();
    turn();
    int before = source.pages();
    for (int i = 0; i < 20; i++) {
      put("d" + i);
      turn();
      quick.takeAll();
    }
    int whileBusy = source.pages() - before;
    assertThat(whileBusy).isLessThanOrEqualTo(2);
    busy.takeAll();
    turn();

    assertThat(source.pages() - before).isEqualTo(whileBusy + 1);
    assertThat(busy.ids().split(" ")).hasSize(20);
    assertThat(busy.ids()).isEqualTo(quick.ids());
  }

  @Test
  void nothing_is_read_when_nobody_listens() {
    Taker taker = attached();
    tails.detach(source, taker);
    put("a");
    turn();

    assertThat(taker.pages).isEmpty();
    assertThat(tails.size()).isZero();
    assertThat(events.listeners()).isZero();
  }

  @Test
  void a_page_read_for_those_who_left_is_not_for_those_who_come() {
    Taker gone = attached();
    Taker comes = new Taker();
    source.afterNextPage(
        () -> {
          put("a");
          tails.detach(source, gone);
          tails.attach(source, end(), comes);
        });
    turn();
    comes.takeAll();
    put("b");
    turn();

    assertThat(gone.pages).isEmpty();
    assertThat(comes.ids()).isEqualTo("b");
  }

  @Test
  void the_tail_of_a_deleted_database_ends() {
    Taker taker = attached();
    turn();
    taker.takeAll();
    db.catalogue.delete(db.name);
    events.publishDeleted(life.instance());
    turn();

    assertThat(taker.pages).last().matches(page -> page.end().isPresent());
    assertThat(tails.attach(source, FeedPosition.BEGINNING, new Taker())).isEmpty();
    assertThat(events.listeners()).isZero();
    tails.detach(source, taker);
    assertThat(tails.size()).isZero();
  }

  @Test
  void a_source_that_fails_for_a_while_is_read_again() {
    Taker taker = attached();
    source.beforeNextPage(
        () -> {
          throw new IllegalStateException("out of order");
        });
    db.put("a", null, "{}");
    turn();
    assertThat(taker.pages).isEmpty();
    Await.until("it is tried again", () -> !waiting.isEmpty());
    turn();

    assertThat(taker.ids()).isEqualTo("a");
    assertThat(taker.failure).isNull();
  }
}
