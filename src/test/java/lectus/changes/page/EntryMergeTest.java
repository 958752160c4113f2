package lectus.changes.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.testing.FeedDatabase;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.edit.Edit;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of merging shards, in rows and in requests that wait for another. */
class EntryMergeTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final int DOCUMENTS = 3_000;

  private int requests;
  private int rows;

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
