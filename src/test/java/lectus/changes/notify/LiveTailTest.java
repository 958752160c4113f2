package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.filter.FeedFilter;
import lectus.changes.notify.TailRegistry.TailOutlet;
import lectus.changes.notify.TailRegistry.TailSeat;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.LivePage.TailPage;
import lectus.changes.page.LiveSource.Sharing;
import lectus.changes.page.Rows;
import lectus.changes.page.Since;
import lectus.changes.testing.FeedDatabase;
import lectus.changes.testing.ToldByHand;
import lectus.changes.testing.WatchedSource;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.store.testing.Await;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The shared reading of a tail; the test drives the readers' threads step by step. */
final class LiveTailTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final FeedDatabase db = new FeedDatabase(stores.fresh(), 1);
  private final DatabaseHandle life = db.catalogue.open(db.name);
  private final ToldByHand events = new ToldByHand();
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final TailRegistry tails = new TailRegistry(this::read);
  private final WatchedSource<FeedPosition> source = source(FeedOptions.DEFAULT);
  private volatile boolean refuses;

  private void read(Runnable work) {
    if (refuses) {
      throw new RejectedExecutionException("too much waits");
    }
    waiting.add(work);
  }

  private WatchedSource<FeedPosition> source(FeedOptions options) {
    return new WatchedSource<>(
        db.changes.live(db.name, options, Since.after(FeedPosition.BEGINNING), events).source());
  }

  /** An outlet that takes pages on demand. */
  private static final class Taker implements TailOutlet<FeedPosition> {
    private final List<TailPage<FeedPosition>> pages = new ArrayList<>();
    private final Queue<Runnable> untaken = new ArrayDeque<>();
    private TailSeat<FeedPosition> seat;
    private FeedPosition start;
    private Throwable failure;

    @Override
    public synchronized void deliver(TailPage<FeedPosition> page, long number, Runnable taken) {
      start = start == null ? seat.start(page, number) : start;
      pages.add(page);
      untaken.add(taken);
    }

    @Override
    public synchronized void fail(Throwable failure) {
      this.failure = failure;
    }

    synchronized boolean hasFailed() {
      return failure instanceof RejectedExecutionException;
    }

    void takeAll() {
      while (!untaken.isEmpty()) {
        untaken.remove().run();
      }
    }

    String ids() {
      return ids(seat);
    }

    String ids(TailSeat<FeedPosition> other) {
      return pages.stream()
          .map(page -> page.rows(other.view()))
          .flatMap(rows -> IntStream.range(0, rows.size()).mapToObj(row -> id(rows, row)))
          .collect(Collectors.joining(" "));
    }

    private static String id(Rows<FeedPosition> rows, int row) {
      byte[] json = Arrays.copyOfRange(rows.json(), rows.start(row), rows.end(row));
      return new String(json, StandardCharsets.UTF_8)
          .replaceAll("\\{\"seq\":\"[0-9a-f]+\",\"id\":\"(\\w+)\"[^]]*].*", "$1");
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
    return attached(source, end());
  }

  private Taker attached(WatchedSource<FeedPosition> other, FeedPosition at) {
    Taker taker = new Taker();
    taker.seat = tails.attach(other.sharing().orElseThrow(), at, taker);
    taker.start = taker.seat.start().orElse(null);
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
    Taker taker = attached(source, before);
    turn();

    assertThat(taker.ids()).isEqualTo("unheard");
  }

  @Test
  void what_comes_while_a_page_is_read_is_in_the_next_one() {
    Taker taker = attached();
    source.afterNextPage(() -> put("late"));
    turn();
    assertThat(taker.pages.get(0).views().isEmpty()).isTrue();
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
  void an_outlet_begins_where_the_tail_is() {
    put("a");
    Taker first = attached();
    turn();
    first.takeAll();
    put("b");
    FeedPosition behindB = end();
    turn();
    first.takeAll();
    Taker late = attached(source, FeedPosition.BEGINNING);
    assertThat(late.start).isEqualTo(behindB);

    put("c");
    turn();
    assertThat(late.ids()).isEqualTo("c");
  }

  @Test
  void one_that_comes_while_a_page_is_read_begins_behind_it() {
    Taker first = attached();
    turn();
    first.takeAll();
    Taker[] late = new Taker[1];
    source.afterNextPage(() -> late[0] = attached());
    put("a");
    turn();
    first.takeAll();
    assertThat(first.ids()).isEqualTo("a");
    assertThat(late[0].start).isEqualByComparingTo(end());

    late[0].takeAll();
    put("b");
    turn();
    assertThat(late[0].ids()).endsWith("b");
  }

  /** A position that only one client claims. */
  @Test
  void a_tail_begins_where_something_was_read() {
    put("a");
    byte[] high = new byte[12];
    high[0] = 0x7f;
    Sequence future = new Sequence(last().incarnation(), high);
    Taker taker = attached(source, FeedPosition.after(future));
    turn();
    assertThat(taker.start).isEqualTo(end());

    taker.takeAll();
    put("b");
    turn();
    assertThat(taker.ids()).isEqualTo("b");
  }

  @Test
  void views_of_one_database_are_read_together() {
    Taker all = attached();
    Taker some = attached(source(ofDocuments("b")), end());
    Sharing<FeedPosition> others = source(ofDocuments("c", "d")).sharing().orElseThrow();
    TailSeat<FeedPosition> beside = tails.attach(some.seat, others, some);
    turn();
    all.takeAll();
    some.takeAll();
    int before = source.pages();
    for (String id : List.of("a", "b", "c")) {
      put(id);
      turn();
      all.takeAll();
      some.takeAll();
    }

    assertThat(source.pages() - before).isEqualTo(3);
    assertThat(all.ids()).isEqualTo("a b c");
    assertThat(some.ids()).isEqualTo("b");
    assertThat(some.ids(beside)).isEqualTo("c");
    assertThat(some.pages.get(some.pages.size() - 1).next()).isEqualByComparingTo(end());
    assertThat(tails.size()).isEqualTo(1);

    tails.leave(beside, some);
    tails.leave(all.seat, all);
    put("d");
    put("e");
    turn();
    assertThat(some.pages.get(some.pages.size() - 1).views()).as("nobody wants to see d").isEmpty();
    tails.leave(some.seat, some);
    assertThat(tails.size()).isZero();
  }

  private static FeedOptions ofDocuments(String... ids) {
    return new FeedOptions(false, false, false, new FeedFilter.DocumentIds(Set.of(ids)), 1);
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
    tails.leave(taker.seat, taker);
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
          tails.leave(gone.seat, gone);
          comes.seat = tails.attach(source.sharing().orElseThrow(), end(), comes);
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
    assertThat(events.listeners()).isZero();
    Taker late = attached(source, FeedPosition.BEGINNING);
    turn();
    assertThat(late.pages).last().matches(page -> page.end().isPresent());
    tails.leave(late.seat, late);
    tails.leave(taker.seat, taker);
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

  @Test
  void listeners_hear_of_it_when_the_readers_refuse_each_retry() {
    Taker taker = attached();
    source.beforeNextPage(
        () -> {
          refuses = true;
          throw new IllegalStateException("out of order");
        });
    turn();

    Await.until("the tail gives up", taker::hasFailed);
    refuses = false;
    put("a");
    Taker next = attached(source, FeedPosition.BEGINNING);
    turn();
    assertThat(next.ids()).isEqualTo("a");
  }
}
