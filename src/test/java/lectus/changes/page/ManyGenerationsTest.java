package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.page.EntryReader.Stretch;
import lectus.changes.testing.FeedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.edit.Edit;
import lectus.document.testing.Answers;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.revision.RevisionId;
import lectus.store.CountedReads;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 018, Resharding: a database that was resharded many times. */
final class ManyGenerationsTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int MANY = 1_000;
  private static final int MOST = 64;

  private final Store store = stores.fresh();
  private final FeedDatabase db = new FeedDatabase(store, 1);
  private final CountedReads counted = new CountedReads(store);

  private static final int DOCUMENTS = 3_000;

  private int requests;
  private int rows;

  private DatabaseHandle reshard() {
    return db.catalogue.reshard(db.name, 1);
  }

  private void reshardOften() {
    IntStream.range(0, MANY).forEach(i -> reshard());
  }

  private record Cost(long reads, long rows) {}

  /** Returns the cost of reading the changes from 0 on a server without any cached state. */
  private Cost costOfWholeFeed() {
    TransactionRunner transactions =
        new TransactionRunner(counted.store(), TransactionLimits.DEFAULT);
    Catalogue catalogue = new Catalogue(counted.store(), transactions, InstantSource.system());
    ChangesReader reader = new ChangesReader(catalogue, transactions, FeedRights.DEFAULT);
    long reads = counted.reads();
    long rows = counted.rows();
    Answers.whole(
        reader.answer(
            db.name, FeedOptions.DEFAULT, FeedPosition.since("0"), ChangesReader.NO_LIMIT));
    return new Cost(counted.reads() - reads, counted.rows() - rows);
  }

  private String feed(ShardId shard) {
    return db.normal(
        db.changes.ofShard(shard), FeedOptions.DEFAULT, "0", ChangesReader.NO_LIMIT, false);
  }

  @Test
  void those_of_an_empty_database_cost_nothing() {
    Cost before = costOfWholeFeed();

    reshardOften();

    Cost after = costOfWholeFeed();
    assertThat(after.reads()).isLessThan(before.reads() + 5);
    assertThat(after.rows()).isLessThan(before.rows() + 5);
    assertThat(db.catalogue.open(db.name).topology().eras()).hasSizeLessThanOrEqualTo(3);
  }

  @Test
  void nor_do_those_in_which_everything_was_written_again() {
    RevisionId a = db.put("a", null, "{}");
    RevisionId b = db.put("b", null, "{}");
    Cost before = costOfWholeFeed();
    for (int i = 0; i < MANY / 5; i++) {
      reshard();
      a = db.put("a", a, "{}");
      b = db.put("b", b, "{}");
    }

    Cost after = costOfWholeFeed();

    assertThat(after.reads()).isLessThan(before.reads() + 8);
    assertThat(after.rows()).isLessThan(before.rows() + 10);
    assertThat(db.normal(FeedOptions.DEFAULT, "0", 10, false)).contains(a.toString(), b.toString());
  }

  @Test
  void a_reader_of_a_shard_from_long_ago_is_told_where_to_go_on() {
    DatabaseHandle early = reshard();
    ShardId shard = early.topology().current().shards().get(0);
    Sequence then = early.topology().current().since().orElseThrow();
    reshardOften();
    RevisionId last = db.put("last", null, "{}");

    String told = feed(shard);

    Sequence since = db.catalogue.open(db.name).topology().generations().get(0).since().get();
    assertThat(told).contains("\"resharded\":{\"seq\":\"" + since + "\"");
    assertThat(feed(new ShardId("0"))).contains("\"resharded\":{\"seq\":\"" + since + "\"");
    assertThat(db.normal(FeedOptions.DEFAULT, then.toString(), 10, false))
        .contains(last.toString());
    assertThat(following(shard)).containsExactly("last");
  }

  /** Returns the ids seen by a reader that begins in a shard and follows the resharding notices. */
  private List<String> following(ShardId shard) {
    List<String> ids = new ArrayList<>();
    List<ShardId> shards = List.of(shard);
    FeedPosition from = FeedPosition.BEGINNING;
    while (true) {
      ChangesReader reader = db.changes.ofShard(shards.get(0));
      LivePage<FeedPosition> page =
          reader
              .live(db.name, FeedOptions.DEFAULT, FeedPosition.since("0"), null)
              .source()
              .page(from, 100);
      if (page.rows().size() > 0) {
        ids.add("last");
      }
      if (page.end().isEmpty()) {
        return ids;
      }
      FeedEnd.Resharded notice = (FeedEnd.Resharded) page.end().get();
      from = (FeedPosition) notice.position();
      shards = notice.shards();
    }
  }

  @Test
  void a_shard_that_never_was_is_not_found() {
    reshardOften();

    for (String never : List.of("1001", "-1", "00", "01", "x", "deprecated", "99999999999")) {
      assertThat(errorOf(() -> feed(new ShardId(never))))
          .as(never)
          .isInstanceOf(LectusError.NotFound.class);
    }
    assertThat(feed(new ShardId("1000"))).doesNotContain("resharded");
  }

  @Test
  void more_than_so_many_with_rows_are_refused() {
    RevisionId first = db.put("d1", null, "{}");
    for (int i = 2; i <= MOST; i++) {
      reshard();
      db.put("d" + i, null, "{}");
    }

    LectusError refused = errorOf(this::reshard);

    assertThat(refused).isInstanceOf(LectusError.NotNow.class);
    assertThat(refused.reason()).startsWith("The changes of " + MOST + " generations");
    db.put("d1", first, "{}");
    reshard();
    assertThat(db.normal(FeedOptions.DEFAULT, "0", ChangesReader.NO_LIMIT, false).split("\"id\""))
        .hasSize(MOST + 1);
  }

  @Test
  void where_time_is_up_a_read_ends_with_a_generation() {
    for (int i = 0; i < 5; i++) {
      db.put("d" + i, null, "{}");
      reshard();
    }
    List<String> seen = new ArrayList<>();
    Optional<Sequence> from = Optional.empty();
    int stretches = 0;
    do {
      Stretch stretch = oldest(from);
      stretches++;
      stretch.entries().forEach(entry -> seen.add(entry.docId()));
      from = stretch.stoppedAt();
    } while (from.isPresent());
    assertThat(seen).containsExactly("d0", "d1", "d2", "d3", "d4");
    // For the last two, it is not looked up whether they are empty.
    assertThat(stretches).isEqualTo(6);
    assertThat(newestFirst()).containsExactly("d4", "d3", "d2", "d1", "d0");
  }

  private Stretch oldest(Optional<Sequence> after) {
    return db.transactions.read(
        tx ->
            new EntryReader(tx, db.catalogue.current(tx, db.name)).oldest(after, 100, () -> true));
  }

  private List<String> newestFirst() {
    List<String> seen = new ArrayList<>();
    Optional<Sequence> before = Optional.empty();
    do {
      Optional<Sequence> at = before;
      Stretch stretch =
          db.transactions.read(
              tx ->
                  new EntryReader(tx, db.catalogue.current(tx, db.name))
                      .newest(at, 100, () -> true));
      stretch.entries().stream().map(ChangeEntry::docId).forEach(seen::add);
      before = stretch.stoppedAt();
    } while (before.isPresent());
    return seen;
  }

  private static LectusError errorOf(Runnable action) {
    try {
      action.run();
      return null;
    } catch (LectusException e) {
      return e.error();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 1024})
  void a_page_reads_little_more_than_it_shows(int shards) {
    FeedDatabase db = new FeedDatabase(stores.fresh(), shards);
    db.putAll("d", DOCUMENTS);

    for (boolean reverse : new boolean[] {false, true}) {
      for (int count : new int[] {1, 100, 1_000, 2_000}) {
        List<ChangeEntry> entries = read(db, db.catalogue.open(db.name), reverse, count);

        assertThat(entries).hasSize(count);
        assertThat(entries)
            .isSortedAccordingTo(
                (a, b) -> (reverse ? -1 : 1) * a.sequence().compareTo(b.sequence()));
        double share = (double) count / shards;
        assertThat(rows)
            .as("%d of %d shards", count, shards)
            .isLessThanOrEqualTo((int) (1.1 * shards * (share + 2 * Math.sqrt(share) + 1)));
        assertThat(requests).isLessThanOrEqualTo(shards + shards / 4);
      }
    }
  }

  @Test
  void a_shard_that_has_everything_is_read_in_growing_steps() {
    FeedDatabase db = new FeedDatabase(stores.fresh(), 64);
    DatabaseHandle handle = db.catalogue.open(db.name);
    ShardId one = handle.topology().current().shards().get(7);
    List<Edit> edits = new ArrayList<>();
    for (int number = 0; edits.size() < 1_000; number++) {
      String id = "d" + number;
      if (handle.topology().shardIn(handle.topology().current(), id).equals(one)) {
        edits.add(FeedDatabase.edit(id, null, "{}"));
      }
    }
    db.writeAll(edits);

    List<ChangeEntry> entries = read(db, handle, false, 1_000);

    assertThat(entries).extracting(ChangeEntry::docId).containsExactlyElementsOf(ids(edits));
    assertThat(requests).isLessThan(64 + 10);
    assertThat(rows).isEqualTo(1_000);
  }

  @Test
  void ranges_exclude_their_begin_and_include_their_end_in_both_directions() {
    FeedDatabase db = new FeedDatabase(stores.fresh(), 4);
    db.putAll("d", 100);
    DatabaseHandle handle = db.catalogue.open(db.name);
    List<Sequence> all =
        read(db, handle, false, 1_000).stream().map(ChangeEntry::sequence).toList();

    for (boolean reverse : new boolean[] {false, true}) {
      List<ChangeEntry> some =
          db.transactions.read(
              tx ->
                  new EntryMerge<ChangeEntry>(
                          new EntryRange(
                              Optional.of(all.get(10)), Optional.of(all.get(60)), 1_000, reverse))
                      .read(shards(tx, handle)));
      assertThat(some.stream().map(ChangeEntry::sequence))
          .containsExactlyInAnyOrderElementsOf(all.subList(11, 61));
    }
  }

  private static List<EntryMerge.Part<ChangeEntry>> shards(
      ReadTransaction tx, DatabaseHandle handle) {
    ChangesSubspace changes = new ChangesSubspace(handle);
    List<EntryMerge.Part<ChangeEntry>> parts = new ArrayList<>();
    for (ShardId shard : handle.topology().current().shards()) {
      parts.add(some -> changes.rows(tx, shard, some));
    }
    return parts;
  }

  private static List<String> ids(List<Edit> edits) {
    return edits.stream().map(Edit::id).toList();
  }

  private List<ChangeEntry> read(
      FeedDatabase db, DatabaseHandle handle, boolean reverse, int count) {
    requests = 0;
    rows = 0;
    return db.transactions.read(
        tx ->
            new EntryMerge<ChangeEntry>(
                    new EntryRange(Optional.empty(), Optional.empty(), count, reverse))
                .read(shards(counted(tx, handle), handle)));
  }

  /** Returns the same transaction with ranges of the changes index counted. */
  private ReadTransaction counted(ReadTransaction inner, DatabaseHandle db) {
    int prefixBytes = DatabaseSubspace.CHANGES.key(db.prefix()).length();
    return proxy(
        ReadTransaction.class,
        (method, arguments) -> {
          Object answer = method.invoke(inner, arguments);
          if (!(answer instanceof AsyncIterable<?> range)) {
            return answer;
          }
          assertThat(((byte[]) arguments[0]).length).isGreaterThan(prefixBytes);
          return proxy(
              AsyncIterable.class, (itsMethod, none) -> counted(itsMethod.invoke(range, none)));
        });
  }

  private Object counted(Object listed) {
    requests++;
    return ((CompletableFuture<?>) listed)
        .thenApply(
            list -> {
              rows += ((List<?>) list).size();
              return list;
            });
  }

  private interface Handler {
    Object call(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.call(method, arguments)));
  }
}
