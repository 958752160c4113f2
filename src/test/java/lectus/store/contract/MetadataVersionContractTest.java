package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.ACCESSED_UNREADABLE;
import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The key FF/metadataVersion; to write it is called a bump (docs/foundationdb-contract.md, section
 * 11).
 */
class MetadataVersionContractTest {
  private static final byte[] KEY = bytes("\u00ff/metadataVersion");
  private static final byte[] AFTER = bytes("\u00ff/metadataVersion\u0000");
  private static final byte[] BUMP = new byte[14];

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());

  @AfterEach
  void close() {
    scratch.close();
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
