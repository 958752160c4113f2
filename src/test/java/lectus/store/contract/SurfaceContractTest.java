package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.Database;
import com.apple.foundationdb.EventKeeper.Events;
import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.LocalityUtil;
import com.apple.foundationdb.MapEventKeeper;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.CloseableAsyncIterator;
import com.apple.foundationdb.directory.DirectoryLayer;
import com.apple.foundationdb.directory.DirectorySubspace;
import com.apple.foundationdb.directory.NoSuchDirectoryException;
import com.apple.foundationdb.tuple.Tuple;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The interfaces beside transactions, and fdb-java's own layers on top of them
 * (docs/foundationdb-contract.md, section 14).
 */
class SurfaceContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Store store = stores.fresh();
  @AutoClose private final Scratch scratch = new Scratch(store);

  @Test
  void what_the_embedded_store_lacks_says_so() {
    TestStores.onlyEmbedded();
    Database database = scratch.database();
    byte[] a = scratch.key("a");
    byte[] b = scratch.key("b");
    List<ThrowingCallable> calls =
        List.of(
            () -> database.openTenant(a),
            () -> database.openTenant(Tuple.from("a")),
            () -> database.blobbifyRange(a, b),
            () -> database.blobbifyRangeBlocking(a, b),
            () -> database.unblobbifyRange(a, b),
            () -> database.purgeBlobGranules(a, b, true),
            () -> database.waitPurgeGranulesComplete(a),
            () -> database.listBlobbifiedRanges(a, b, 10),
            () -> database.verifyBlobRange(a, b),
            () -> database.flushBlobRange(a, b, true),
            () -> scratch.begin().getBlobGranuleRanges(a, b, 10),
            () -> mappedRange(scratch.begin()));
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call)
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining(" ");
    }
  }

  @Test
  void mapped_ranges_are_not_for_snapshots() {
    Transaction t = scratch.begin();
    assertThatThrownBy(
            () ->
                t.snapshot()
                    .getMappedRange(
                        KeySelector.firstGreaterOrEqual(EMPTY),
                        KeySelector.firstGreaterOrEqual(EMPTY),
                        EMPTY,
                        1,
                        false,
                        StreamingMode.ITERATOR))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void executors_are_those_handed_in() {
    AtomicInteger ran = new AtomicInteger();
    Transaction t =
        scratch.closing(
            scratch
                .database()
                .createTransaction(
                    task -> {
                      ran.incrementAndGet();
                      task.run();
                    }));
    assertThat(t.getExecutor()).isSameAs(t.snapshot().getExecutor());
    valueOf(t.get(scratch.key("k")).thenApplyAsync(v -> v, t.getExecutor()));
    assertThat(ran).hasPositiveValue();
    assertThat(scratch.database().getExecutor()).isNotNull();
  }

  @Test
  void an_event_keeper_is_told_what_is_read() {
    Database database = scratch.database();
    Transaction t = scratch.closing(database.createTransaction(database.getExecutor(), null));
    t.set(scratch.key("k"), new byte[30]);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(database.getMainThreadBusyness()).isNotNegative();

    MapEventKeeper events = new MapEventKeeper();
    Transaction reader =
        scratch.closing(database.createTransaction(database.getExecutor(), events));
    valueOf(reader.getRange(scratch.all()).asList());
    assertThat(events.getCount(Events.RANGE_QUERY_RECORDS_FETCHED)).isEqualTo(1);
    assertThat(events.getCount(Events.RANGE_QUERY_FETCHES)).isPositive();
    assertThat(events.getCount(Events.BYTES_FETCHED)).isGreaterThanOrEqualTo(30);
  }

  @Test
  void the_first_shard_begins_at_the_empty_key() {
    List<byte[]> keys = new ArrayList<>();
    try (CloseableAsyncIterator<byte[]> boundaries =
        LocalityUtil.getBoundaryKeys(scratch.database(), EMPTY, Scratch.FF)) {
      boundaries.forEachRemaining(keys::add);
    }
    assertThat(keys).isNotEmpty();
    assertThat(keys.get(0)).isEmpty();
  }

  @Test
  void database_options_are_defaults_of_transactions() {
    TestStores.onlyEmbedded(); // they would stay with a cluster's shared database
    Database database = scratch.database();
    database.options().setTransactionSizeLimit(1_000);
    try {
      Transaction t = scratch.begin();
      t.set(scratch.key("k"), new byte[1_001]);
      assertThat(codeOf(t.commit())).isEqualTo(ErrorCodes.TRANSACTION_TOO_LARGE);
    } finally {
      database.options().setTransactionSizeLimit(10_000_000);
    }
    database.options().setTransactionRetryLimit(0);
    try {
      Transaction t = scratch.begin();
      assertThat(codeOf(t.onError(new FDBException("", 1020)))).isEqualTo(1020);
    } finally {
      database.options().setTransactionRetryLimit(-1);
    }
  }

  @Test
  void the_directory_layer_works() {
    Database database = scratch.database();
    DirectorySubspace home = store.directory();
    DirectorySubspace one = home.createOrOpen(database, List.of("one")).join();
    DirectorySubspace two = home.create(database, List.of("two", "deep")).join();
    assertThat(one.getKey()).isNotEqualTo(two.getKey());
    assertThat(home.list(database).join()).containsExactlyInAnyOrder("one", "two");
    assertThat(home.open(database, List.of("one")).join().getKey()).isEqualTo(one.getKey());
    scratch.committed(t -> t.set(one.pack("row"), bytes("v")));
    List<String> target = append(home.getPath(), "moved");
    DirectorySubspace moved = one.moveTo(database, target).join();
    assertThat(moved.getKey()).isEqualTo(one.getKey());
    assertThat(home.exists(database, List.of("one")).join()).isFalse();
    home.remove(database, List.of("moved")).join();
    assertThat(scratch.stored(one.pack("row"))).isNull();
    assertThatThrownBy(() -> home.open(database, List.of("one")).join())
        .hasCauseInstanceOf(NoSuchDirectoryException.class);
  }

  @Test
  void directories_get_prefixes_of_their_own_at_once_too() {
    Set<String> prefixes = new HashSet<>();
    DirectoryLayer layer = new DirectoryLayer();
    List<CompletableFuture<DirectorySubspace>> creations =
        IntStream.range(0, 16)
            .mapToObj(i -> append(store.directory().getPath(), "d" + i))
            .map(path -> layer.create(scratch.database(), path))
            .toList();
    creations.forEach(creation -> prefixes.add(Scratch.text(valueOf(creation).getKey())));
    assertThat(prefixes).hasSize(16);
  }

  private static Object mappedRange(Transaction t) {
    return t.getMappedRange(
            KeySelector.firstGreaterOrEqual(EMPTY),
            KeySelector.firstGreaterOrEqual(EMPTY),
            EMPTY,
            1,
            false,
            StreamingMode.ITERATOR)
        .iterator();
  }

  private static List<String> append(List<String> path, String name) {
    List<String> longer = new ArrayList<>(path);
    longer.add(name);
    return longer;
  }
}
