package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.ACCESSED_UNREADABLE;
import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
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
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Watches (docs/foundationdb-contract.md, section 10). */
class WatchesContractTest {
  private static final long DEFAULT_MAX_WATCHES = 10_000;

  private static final byte[] KEY = bytes("\u00ff/metadataVersion");

  private static final byte[] AFTER = bytes("\u00ff/metadataVersion\u0000");

  private static final byte[] BUMP = new byte[14];

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

  @Test
  void a_bump_stores_the_versionstamp_of_its_commit() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    bump(t);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(KEY)).isEqualTo(valueOf(versionstamp)).hasSize(10);
    assertThat(valueOf(scratch.begin().snapshot().get(KEY))).isEqualTo(valueOf(versionstamp));
  }

  @Test
  void the_metadata_version_changes_with_bumps_only() {
    scratch.committed(this::bump);
    byte[] before = scratch.stored(KEY);
    scratch.set("a");
    assertThat(scratch.stored(KEY)).isEqualTo(before);
    scratch.committed(this::bump);
    assertThat(scratch.stored(KEY)).isNotEqualTo(before);
  }

  @Test
  void the_metadata_version_belongs_to_the_snapshot_of_a_transaction() {
    scratch.committed(this::bump);
    byte[] before = scratch.stored(KEY);
    Transaction t = scratch.started();
    scratch.committed(this::bump);
    assertThat(valueOf(t.snapshot().get(KEY))).isEqualTo(before);
  }

  @Test
  void the_metadata_version_is_unreadable_after_an_own_bump() {
    Transaction t = scratch.begin();
    bump(t);
    assertThat(codeOf(t.get(KEY))).isEqualTo(ACCESSED_UNREADABLE);
    assertThat(codeOf(t.commit())).isEqualTo(ACCESSED_UNREADABLE);
    Transaction snapshot = scratch.begin();
    bump(snapshot);
    assertThat(codeOf(snapshot.snapshot().get(KEY))).isEqualTo(ACCESSED_UNREADABLE);
  }

  @Test
  void only_a_versionstamped_set_may_write_the_metadata_version() {
    assertThat(commit(t -> t.set(KEY, EMPTY))).isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commit(t -> t.mutate(MutationType.ADD, KEY, BUMP)))
        .isEqualTo(CLIENT_INVALID_OPERATION);
    byte[] otherOperand = new byte[15];
    assertThat(commit(t -> t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, KEY, otherOperand)))
        .isEqualTo(CLIENT_INVALID_OPERATION);
    byte[] otherBytes = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    assertThat(commit(t -> t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, KEY, otherBytes)))
        .isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commit(t -> t.clear(KEY))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(t -> t.clear(KEY, AFTER))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(t -> t.addWriteConflictKey(KEY))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void ranges_do_not_reach_the_metadata_version() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.getRange(KEY, AFTER).asList())).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void readers_conflict_with_bumps_but_snapshot_readers_do_not() {
    Transaction reader = scratch.started();
    valueOf(reader.get(KEY));
    Transaction adder = scratch.started();
    adder.addReadConflictKey(KEY);
    Transaction snapshot = scratch.started();
    valueOf(snapshot.snapshot().get(KEY));
    scratch.committed(this::bump);
    assertThat(scratch.outcome(reader)).isEqualTo(NOT_COMMITTED);
    assertThat(scratch.outcome(adder)).isEqualTo(NOT_COMMITTED);
    assertThat(scratch.outcome(snapshot)).isEqualTo(OK);
  }

  @Test
  void bumps_do_not_conflict_with_each_other() {
    Transaction first = scratch.started();
    Transaction second = scratch.started();
    bump(first);
    bump(second);
    assertThat(codeOf(first.commit())).isEqualTo(OK);
    assertThat(codeOf(second.commit())).isEqualTo(OK);
  }

  @Test
  void a_watch_fires_on_a_bump() {
    Transaction t = scratch.begin();
    CompletableFuture<Void> watch = t.watch(KEY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(watch).isNotDone();
    scratch.committed(this::bump);
    assertThat(codeOf(watch)).isEqualTo(OK);
  }

  private int commit(Consumer<Transaction> writes) {
    Transaction t = scratch.begin();
    writes.accept(t);
    return codeOf(t.commit());
  }

  private void bump(Transaction t) {
    t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, KEY, BUMP);
  }
}
