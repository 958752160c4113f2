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

/** Watches (docs/foundationdb-contract.md, section 10). */
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
  void a_watch_fires_when_its_key_changes() {
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
  void a_watch_fires_on_atomics_and_range_clears() {
    CompletableFuture<Void> added = committedWatch();
    scratch.committed(t -> t.mutate(MutationType.ADD, k, new byte[] {1}));
    assertThat(codeOf(added)).isEqualTo(OK);
    CompletableFuture<Void> cleared = committedWatch();
    scratch.committed(t -> t.clear(scratch.all()));
    assertThat(codeOf(cleared)).isEqualTo(OK);
  }

  @Test
  void a_write_of_the_same_value_does_not_fire() {
    scratch.set("k");
    CompletableFuture<Void> watch = committedWatch();
    scratch.set("k");
    scratch.set("j", "l");
    assertThat(watch).isNotDone();
    scratch.committed(t -> t.set(k, bytes("new")));
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void a_watch_outlives_its_transaction() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    t.close();
    assertThat(watch).isNotDone();
    scratch.set("k");
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void many_watches_of_one_key_fire_together() {
    List<CompletableFuture<Void>> many = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      many.add(committedWatch());
    }
    scratch.set("k");
    many.forEach(watch -> assertThat(codeOf(watch)).isEqualTo(OK));
  }

  @Test
  void what_changed_before_the_watch_was_live_fires_too() {
    Transaction t = scratch.started();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    scratch.set("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void an_own_later_write_of_another_value_fires_before_the_commit() {
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
  void an_own_later_write_of_the_same_value_does_not_fire() {
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
  void a_watch_sees_own_earlier_writes() {
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
  void a_watch_adds_a_read_conflict_and_fails_with_its_commit() {
    Transaction t = scratch.started();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(scratch.key("other")));
    scratch.set("k");
    assertThat(scratch.outcome(t)).isEqualTo(NOT_COMMITTED);
    assertThat(codeOf(watch)).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_watch_on_a_read_only_transaction_goes_live() {
    CompletableFuture<Void> watch = committedWatch();
    scratch.set("k");
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  @Test
  void closing_before_the_commit_ends_a_watch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    t.close();
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void cancelling_then_closing_before_the_commit_ends_a_watch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    t.cancel();
    t.close();
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void on_error_before_the_commit_ends_a_registered_watch() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = watch(t);
    valueOf(t.get(k));
    TestStores.onlyEmbedded(); // On a cluster the watch's own read may still be under way.
    scratch.closing(valueOf(t.onError(new FDBException("", NOT_COMMITTED))));
    assertThat(codeOf(watch)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void cancelling_the_future_frees_its_slot() {
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
  void the_number_of_watches_is_limited() {
    scratch.database().options().setMaxWatches(1);
    try {
      Transaction t = scratch.begin();
      CompletableFuture<Void> first = watch(t);
      CompletableFuture<Void> second = watch(t);
      // The one whose read returns first takes the slot.
      CompletableFuture.anyOf(first, second).exceptionally(e -> null).join();
      CompletableFuture<Void> refused = first.isDone() ? first : second;
      assertThat(codeOf(refused)).isEqualTo(TOO_MANY_WATCHES);
      assertThat(refused == first ? second : first).isNotDone();
    } finally {
      scratch.database().options().setMaxWatches(DEFAULT_MAX_WATCHES);
    }
  }

  @Test
  void thousands_of_watches_fire() {
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

  /** Retries, because a slot is freed a moment after its future was cancelled or completed. */
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
