package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TOO_MANY_WATCHES;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 10: watches. */
class WatchesContractTest {
  private static final long DEFAULT_MAX_WATCHES = 10_000;

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");
  private final List<CompletableFuture<Void>> watches = new ArrayList<>();

  @AfterEach
  void close() {
    watches.forEach(watch -> watch.cancel(true));
    scratch.close();
  }

  @Test
  void aWatchFiresWhenItsKeyChanges() {
    CompletableFuture<Void> onMissing = committedWatch();
    assertThat(onMissing).isNotDone();
    scratch.set("k");
    assertThat(codeOf(onMissing)).isEqualTo(OK);

    CompletableFuture<Void> onPresent = committedWatch();
    assertThat(onPresent).isNotDone();
    scratch.committed(t -> t.clear(k));
    assertThat(codeOf(onPresent)).isEqualTo(OK);
  }

  @Test
  void aWatchFiresOnAtomicsAndRangeClears() {
    CompletableFuture<Void> added = committedWatch();
    scratch.committed(t -> t.mutate(MutationType.ADD, k, new byte[] {1}));
    assertThat(codeOf(added)).isEqualTo(OK);
    CompletableFuture<Void> cleared = committedWatch();
    scratch.committed(t -> t.clear(scratch.all()));
    assertThat(codeOf(cleared)).isEqualTo(OK);
  }

  @Test
  void aWriteOfTheSameValueDoesNotFire() {
    scratch.set("k");
    CompletableFuture<Void> watch = committedWatch();
    scratch.set("k");
    scratch.set("j", "l");
    assertThat(watch).isNotDone();
    scratch.committed(t -> t.set(k, bytes("new")));
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void aWatchOutlivesItsTransaction() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    t.close();
    assertThat(watch).isNotDone();
    scratch.set("k");
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void manyWatchesOfOneKeyFireTogether() {
    List<CompletableFuture<Void>> many = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      many.add(committedWatch());
    }
    scratch.set("k");
    many.forEach(watch -> assertThat(codeOf(watch)).isEqualTo(OK));
  }

  @Test
  void whatChangedBeforeTheWatchWasLiveFiresToo() {
    Transaction t = scratch.started();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    scratch.set("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void anOwnLaterWriteOfAnotherValueFiresBeforeTheCommit() {
    scratch.set("k");
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    t.set(k, bytes("new"));
    assertThat(codeOf(watch)).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("k"));

    Transaction clearing = scratch.begin();
    CompletableFuture<Void> cleared = watch(clearing);
    clearing.clear(k);
    assertThat(codeOf(cleared)).isEqualTo(OK);

    Transaction adding = scratch.begin();
    CompletableFuture<Void> added = watch(adding);
    adding.mutate(MutationType.ADD, k, EMPTY);
    assertThat(codeOf(added)).isEqualTo(OK);
  }

  @Test
  void anOwnLaterWriteOfTheSameValueDoesNotFire() {
    scratch.set("k");
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    t.set(k, bytes("k"));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(watch).isNotDone();
    scratch.committed(other -> other.set(k, bytes("new")));
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void aWatchSeesOwnEarlierWrites() {
    Transaction t = scratch.begin();
    t.set(k, bytes("own"));
    CompletableFuture<Void> watch = watch(t);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(watch).isNotDone();
    scratch.committed(other -> other.set(k, bytes("own")));
    assertThat(watch).isNotDone();
    scratch.set("k");
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void aWatchAddsAReadConflict_andFailsWithItsCommit() {
    Transaction t = scratch.started();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(scratch.key("other")));
    scratch.set("k");
    assertThat(scratch.outcome(t)).isEqualTo(NOT_COMMITTED);
    assertThat(codeOf(watch)).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void aWatchOnAReadOnlyTransactionGoesLive() {
    CompletableFuture<Void> watch = committedWatch();
    scratch.set("k");
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void closingBeforeTheCommitEndsAWatch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    t.close();
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void cancellingThenClosingBeforeTheCommitEndsAWatch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    t.cancel();
    t.close();
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void onErrorBeforeTheCommitEndsARegisteredWatch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    TestStores.onlyEmbedded(); // on a cluster the watch's own read may still be under way
    scratch.closing(valueOf(t.onError(new FDBException("", NOT_COMMITTED))));
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void cancellingTheFutureFreesItsSlot() {
    scratch.database().options().setMaxWatches(1);
    try {
      CompletableFuture<Void> first = committedWatch();
      assertThat(codeOf(refusedWatch())).isEqualTo(TOO_MANY_WATCHES);
      first.cancel(true);
      CompletableFuture<Void> second = watchOnceThereIsRoom();
      scratch.set("k");
      assertThat(codeOf(second)).isEqualTo(OK);
      CompletableFuture<Void> third = watchOnceThereIsRoom();
      third.cancel(true);
    } finally {
      scratch.database().options().setMaxWatches(DEFAULT_MAX_WATCHES);
    }
  }

  @Test
  void theNumberOfWatchesIsLimited() {
    scratch.database().options().setMaxWatches(1);
    try {
      Transaction t = scratch.begin();
      CompletableFuture<Void> first = watch(t);
      CompletableFuture<Void> second = watch(t);
      // The one whose read returns first has the slot.
      CompletableFuture.anyOf(first, second).exceptionally(e -> null).join();
      CompletableFuture<Void> refused = first.isDone() ? first : second;
      assertThat(codeOf(refused)).isEqualTo(TOO_MANY_WATCHES);
      assertThat(refused == first ? second : first).isNotDone();
    } finally {
      scratch.database().options().setMaxWatches(DEFAULT_MAX_WATCHES);
    }
  }

  @Test
  void thousandsOfWatches() {
    List<CompletableFuture<Void>> many = new ArrayList<>();
    Transaction t = scratch.begin();
    for (int i = 0; i < 2_000; i++) {
      CompletableFuture<Void> watch = t.watch(scratch.key("w" + i));
      watches.add(watch);
      many.add(watch);
    }
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    scratch.committed(
        other -> {
          for (int i = 0; i < 2_000; i += 2) {
            other.set(scratch.key("w" + i), EMPTY);
          }
        });
    for (int i = 0; i < 2_000; i += 2) {
      assertThat(codeOf(many.get(i))).isEqualTo(OK);
      assertThat(many.get(i + 1)).isNotDone();
    }
  }

  private CompletableFuture<Void> refusedWatch() {
    return watch(scratch.begin());
  }

  /** A slot is freed a moment after the future was cancelled or completed. */
  private CompletableFuture<Void> watchOnceThereIsRoom() {
    for (int attempt = 0; attempt < 1_000; attempt++) {
      Transaction t = scratch.begin();
      CompletableFuture<Void> watch = watch(t);
      valueOf(t.get(k));
      if (!watch.isCompletedExceptionally() && codeOf(t.commit()) == OK) {
        return watch;
      }
    }
    throw new AssertionError("The slot was not freed");
  }

  private CompletableFuture<Void> committedWatch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    return watch;
  }

  private CompletableFuture<Void> watch(Transaction t) {
    CompletableFuture<Void> watch = t.watch(k);
    watches.add(watch);
    return watch;
  }
}
