package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.FUTURE_VERSION;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.READ_VERSION_ALREADY_SET;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TOO_OLD;
import static lectus.store.contract.ErrorCodes.USED_DURING_COMMIT;
import static lectus.store.contract.ErrorCodes.VERSION_INVALID;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.Transaction;
import java.util.concurrent.CompletableFuture;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Read versions, commit versions, and the end of a transaction (docs/foundationdb-contract.md,
 * section 8).
 */
class VersionsContractTest {
  /** Beyond the window of 5,000,000 versions. */
  private static final long LONG_AGO = 6_000_000;

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] k = scratch.key("k");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void a_read_version_is_at_least_every_acknowledged_commit() {
    for (int i = 0; i < 20; i++) {
      long committed = scratch.committed(t -> t.set(k, EMPTY));
      Transaction t = scratch.begin();
      long read = valueOf(t.getReadVersion());
      assertThat(read).isGreaterThanOrEqualTo(committed);
      assertThat(valueOf(t.getReadVersion())).isEqualTo(read);
      assertThat(valueOf(t.snapshot().getReadVersion())).isEqualTo(read);
    }
  }

  @Test
  void commit_versions_increase_and_lie_behind_the_read_version() {
    long last = 0;
    for (int i = 0; i < 20; i++) {
      Transaction t = scratch.begin();
      long read = valueOf(t.getReadVersion());
      assertThat(t.getCommittedVersion()).isEqualTo(-1);
      t.set(k, EMPTY);
      assertThat(codeOf(t.commit())).isEqualTo(OK);
      assertThat(t.getCommittedVersion()).isGreaterThan(read).isGreaterThan(last);
      last = t.getCommittedVersion();
    }
  }

  @Test
  void the_read_version_stays_fixed_while_others_commit() {
    scratch.set("k");
    Transaction t = scratch.started();
    long read = valueOf(t.getReadVersion());
    scratch.committed(o -> o.set(k, bytes("new")));
    assertThat(valueOf(t.getReadVersion())).isEqualTo(read);
    assertThat(scratch.get(t, "k")).isEqualTo("k");
  }

  @Test
  void a_read_version_may_be_handed_to_another_transaction() {
    scratch.set("k");
    Transaction first = scratch.started();
    scratch.committed(o -> o.set(k, bytes("new")));
    Transaction second = scratch.begin();
    second.setReadVersion(valueOf(first.getReadVersion()));
    assertThat(scratch.get(second, "k")).isEqualTo("k");
    assertThat(valueOf(second.getReadVersion())).isEqualTo(valueOf(first.getReadVersion()));
    second.set(scratch.key("x"), EMPTY);
    assertThat(codeOf(second.commit())).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void a_commit_version_is_a_read_version() {
    long first = scratch.committed(t -> t.set(k, bytes("1")));
    scratch.committed(t -> t.set(k, bytes("2")));
    Transaction t = scratch.begin();
    t.setReadVersion(first);
    assertThat(scratch.get(t, "k")).isEqualTo("1");
  }

  @Test
  void a_recent_version_is_read_though_no_transaction_has_it_open() {
    scratch.set("k");
    Transaction ended = scratch.started();
    long version = valueOf(ended.getReadVersion());
    ended.close();
    for (int i = 0; i < 3; i++) {
      byte[] value = bytes("new " + i);
      scratch.committed(o -> o.set(k, value));
    }
    for (int i = 0; i < 3; i++) {
      Transaction t = scratch.begin();
      t.setReadVersion(version);
      assertThat(scratch.get(t, "k")).isEqualTo("k");
      t.close();
    }
    Transaction losing = scratch.begin();
    losing.setReadVersion(version);
    valueOf(losing.get(k));
    losing.set(scratch.key("x"), EMPTY);
    assertThat(codeOf(losing.commit())).isEqualTo(NOT_COMMITTED);
    Transaction winning = scratch.begin();
    winning.setReadVersion(version);
    valueOf(winning.get(scratch.key("y")));
    winning.set(scratch.key("x"), EMPTY);
    assertThat(codeOf(winning.commit())).isEqualTo(OK);
  }

  @Test
  void an_illegal_read_version_fails_late() {
    for (long version : new long[] {0, -1, Long.MIN_VALUE}) {
      Transaction t = scratch.begin();
      t.setReadVersion(version);
      assertThat(codeOf(t.get(k))).isEqualTo(VERSION_INVALID);
      assertThat(codeOf(t.commit())).isEqualTo(VERSION_INVALID);
    }
  }

  @Test
  void a_read_version_is_set_once() {
    Transaction afterRead = scratch.begin();
    valueOf(afterRead.get(k));
    afterRead.setReadVersion(1);
    assertThat(codeOf(afterRead.commit())).isEqualTo(READ_VERSION_ALREADY_SET);

    Transaction afterRequest = scratch.begin();
    long version = valueOf(afterRequest.getReadVersion());
    afterRequest.setReadVersion(version);
    assertThat(codeOf(afterRequest.get(k))).isEqualTo(READ_VERSION_ALREADY_SET);

    Transaction twice = scratch.begin();
    twice.setReadVersion(version);
    twice.setReadVersion(version);
    assertThat(codeOf(twice.get(k))).isEqualTo(READ_VERSION_ALREADY_SET);
  }

  @Test
  void a_read_version_of_the_future_fails_reads_and_then_the_commit() {
    Transaction t = scratch.begin();
    t.setReadVersion(valueOf(scratch.begin().getReadVersion()) + 1_000_000_000_000L);
    assertThat(codeOf(t.get(k))).isEqualTo(FUTURE_VERSION);
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(FUTURE_VERSION);
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void a_read_version_of_the_future_does_not_disturb_a_write() {
    Transaction t = scratch.begin();
    t.setReadVersion(valueOf(scratch.begin().getReadVersion()) + 1_000_000_000_000L);
    t.addReadConflictKey(scratch.key("x"));
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEmpty();
  }

  @Test
  void an_old_read_version_is_too_old() {
    Transaction reading = longAgo();
    assertThat(codeOf(reading.get(k))).isEqualTo(TRANSACTION_TOO_OLD);
    assertThat(codeOf(longAgo().getRange(scratch.all()).asList())).isEqualTo(TRANSACTION_TOO_OLD);
    assertThat(codeOf(longAgo().getKey(KeySelector.firstGreaterThan(k))))
        .isEqualTo(TRANSACTION_TOO_OLD);
    Transaction writing = longAgo();
    writing.addReadConflictKey(k);
    writing.set(k, EMPTY);
    assertThat(codeOf(writing.commit())).isEqualTo(TRANSACTION_TOO_OLD);
    assertThat(scratch.stored(k)).isNull();
    assertThat(codeOf(longAgo().commit())).isEqualTo(OK);
  }

  @Test
  void after_a_commit_only_versions_and_size_can_be_asked() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(t.get(k))).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.snapshot().get(k))).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.getRange(scratch.all()).asList())).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.watch(k))).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.commit())).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.getVersionstamp())).isEqualTo(USED_DURING_COMMIT);
    assertThat(t.getCommittedVersion()).isPositive();
  }

  @Test
  void versions_and_size_can_be_asked_after_a_commit() {
    Transaction t = scratch.started();
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(t.getReadVersion())).isEqualTo(OK);
    assertThat(codeOf(t.getApproximateSize())).isEqualTo(OK);
  }

  @Test
  void mutators_after_a_commit_fail_late() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    t.set(k, EMPTY);
    assertThat(codeOf(t.getApproximateSize())).isEqualTo(USED_DURING_COMMIT);
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void use_during_a_commit_leaves_the_commit_unharmed() {
    for (int i = 0; i < 10; i++) {
      byte[] key = scratch.key("k" + i);
      Transaction t = scratch.begin();
      t.set(key, EMPTY);
      CompletableFuture<Void> commit = t.commit();
      assertThat(codeOf(t.get(key))).isEqualTo(USED_DURING_COMMIT);
      t.set(key, bytes("late"));
      assertThat(codeOf(commit)).isEqualTo(OK);
      assertThat(scratch.stored(key)).isEmpty();
    }
  }

  @Test
  void a_failed_commit_ends_the_transaction_too() {
    Transaction t = scratch.started();
    valueOf(t.get(k));
    scratch.set("k");
    assertThat(scratch.outcome(t)).isEqualTo(NOT_COMMITTED);
    assertThat(codeOf(t.get(k))).isEqualTo(USED_DURING_COMMIT);
    assertThat(codeOf(t.commit())).isEqualTo(USED_DURING_COMMIT);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
  }

  @Test
  void a_read_only_commit_has_no_version() {
    Transaction t = scratch.begin();
    valueOf(t.get(k));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
    Transaction nothing = scratch.begin();
    assertThat(codeOf(nothing.commit())).isEqualTo(OK);
    assertThat(nothing.getCommittedVersion()).isEqualTo(-1);
  }

  @Test
  void cancel_ends_a_transaction() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    t.cancel();
    t.cancel();
    t.set(k, EMPTY);
    t.clear(k);
    assertThat(codeOf(t.get(k))).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(t.getRange(scratch.all()).asList())).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(t.getReadVersion())).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(t.commit())).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(t.watch(k))).isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(t.onError(new FDBException("", NOT_COMMITTED))))
        .isEqualTo(TRANSACTION_CANCELLED);
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void close_ends_a_transaction() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    t.close();
    assertThatThrownBy(t::commit).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> t.get(k)).isInstanceOf(IllegalStateException.class);
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void cancel_during_a_commit_leaves_it_open_whether_it_happened() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    CompletableFuture<Void> commit = t.commit();
    t.cancel();
    assertThat(codeOf(commit)).isIn(OK, TRANSACTION_CANCELLED);
    Transaction closed = scratch.begin();
    closed.set(k, EMPTY);
    CompletableFuture<Void> closedCommit = closed.commit();
    closed.close();
    assertThat(codeOf(closedCommit)).isIn(OK, TRANSACTION_CANCELLED);
  }

  private Transaction longAgo() {
    Transaction t = scratch.begin();
    t.setReadVersion(valueOf(scratch.begin().getReadVersion()) - LONG_AGO);
    return t;
  }

  @Test
  void the_read_version_after_a_blind_commit_stays_the_same() {
    Transaction t = scratch.begin();
    t.set(scratch.key("k"), EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    long readVersion = valueOf(t.getReadVersion());
    assertThat(readVersion).isLessThanOrEqualTo(t.getCommittedVersion());

    scratch.set("later");
    assertThat(valueOf(t.getReadVersion())).isEqualTo(readVersion);
  }
}
