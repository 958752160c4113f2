package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.ACCESSED_UNREADABLE;
import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.FUTURE_VERSION;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.NO_COMMIT_VERSION;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.READ_VERSION_ALREADY_SET;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_INVALID_VERSION;
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
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Read versions, commit versions and the end of a transaction, versionstamped keys and values
 * (docs/foundationdb-contract.md, sections 7 and 8).
 */
class VersionsContractTest {
  /** Beyond the window of 5,000,000 versions. */
  private static final long LONG_AGO = 6_000_000;

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());

  private final byte[] k = scratch.key("k");

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

  @Test
  void key_and_value_get_the_versionstamp_of_the_transaction() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    stampKey(t, "p", "tail", "row");
    stampValue(t, "v", bytes("head"), bytes("tail"));
    assertThat(versionstamp).isNotDone();
    assertThat(codeOf(t.commit())).isEqualTo(OK);

    byte[] stamp = valueOf(versionstamp);
    assertThat(stamp).hasSize(10);
    assertThat(ByteBuffer.wrap(stamp).getLong()).isEqualTo(t.getCommittedVersion());
    byte[] complete = Versionstamp.complete(stamp, 7);
    byte[] finalKey = ByteArrayUtil.join(scratch.key("p"), complete, bytes("tail"));
    assertThat(scratch.stored(finalKey)).isEqualTo(bytes("row"));
    assertThat(scratch.stored(scratch.key("v")))
        .isEqualTo(ByteArrayUtil.join(bytes("head"), complete, bytes("tail")));
  }

  @Test
  void only_ten_bytes_are_filled_in_anywhere_in_the_template() {
    byte[] operand = ByteArrayUtil.join(bytes("ab"), new byte[10], bytes("yz"));
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    for (int offset = 0; offset <= 4; offset++) {
      byte[] key = scratch.key("v" + offset);
      t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, key, withOffset(operand, offset));
    }
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    for (int offset = 0; offset <= 4; offset++) {
      byte[] expected = operand.clone();
      System.arraycopy(valueOf(versionstamp), 0, expected, offset, 10);
      assertThat(scratch.stored(scratch.key("v" + offset))).isEqualTo(expected);
    }
  }

  @Test
  void illegal_templates_fail_the_transaction() {
    byte[] fourteen = new byte[14];
    for (int offset : new int[] {-1, 5, 14, 1_000_000, Integer.MIN_VALUE}) {
      assertThat(commitValue(withOffset(fourteen, offset))).isEqualTo(CLIENT_INVALID_OPERATION);
      byte[] key = ByteArrayUtil.join(k, fourteen);
      int inKey = offset < 0 || offset > 100 ? offset : offset + k.length;
      assertThat(commitKey(withOffset(key, inKey))).isEqualTo(CLIENT_INVALID_OPERATION);
    }
    assertThat(commitValue(new byte[3])).isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commitValue(EMPTY)).isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commitKey(bytes("abc"))).isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commitValue(withOffset(new byte[10], 0))).isEqualTo(OK);
    assertThat(commitValue(withOffset(new byte[9], 0))).isEqualTo(CLIENT_INVALID_OPERATION);
  }

  @Test
  void the_greatest_offset_is_illegal_too() {
    TestStores.onlyEmbedded(); // a cluster of 7.4.6 lets it pass and dies of it
    assertThat(commitValue(withOffset(new byte[14], Integer.MAX_VALUE)))
        .isEqualTo(CLIENT_INVALID_OPERATION);
    assertThat(commitKey(withOffset(new byte[14], Integer.MAX_VALUE)))
        .isEqualTo(CLIENT_INVALID_OPERATION);
  }

  @Test
  void the_template_is_what_is_checked_against_the_key_space() {
    byte[] beyond = withOffset(ByteArrayUtil.join(new byte[] {(byte) 0xff}, new byte[10]), 1);
    assertThat(commitKey(beyond)).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    byte[] placeholderFirst = withOffset(Versionstamp.placeholder(0), 0);
    assertThat(commitKey(placeholderFirst)).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void versionstamps_increase() {
    byte[] last = new byte[10];
    for (int i = 0; i < 20; i++) {
      Transaction t = scratch.begin();
      CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
      t.set(k, EMPTY);
      assertThat(codeOf(t.commit())).isEqualTo(OK);
      assertThat(Arrays.compareUnsigned(valueOf(versionstamp), last)).isPositive();
      last = valueOf(versionstamp);
    }
  }

  @Test
  void concurrent_commits_have_versionstamps_of_their_own_in_order_within_a_version() {
    List<CompletableFuture<byte[]>> versionstamps = new ArrayList<>();
    List<CompletableFuture<Void>> commits = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Transaction t = scratch.begin();
      versionstamps.add(t.getVersionstamp());
      stampKey(t, "p", "", Integer.toString(i));
      commits.add(t.commit());
    }
    commits.forEach(commit -> assertThat(codeOf(commit)).isEqualTo(OK));
    assertThat(versionstamps.stream().map(f -> ByteBuffer.wrap(valueOf(f))).distinct()).hasSize(50);
    List<KeyValue> rows = valueOf(scratch.begin().getRange(scratch.all()).asList());
    assertThat(rows).hasSize(50);
    for (KeyValue row : rows) {
      byte[] stamp = valueOf(versionstamps.get(Integer.parseInt(Scratch.text(row.getValue()))));
      assertThat(row.getKey())
          .isEqualTo(ByteArrayUtil.join(scratch.key("p"), Versionstamp.complete(stamp, 7)));
    }
  }

  @Test
  void two_stamped_keys_of_one_transaction_differ_in_their_user_versions() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    for (int user = 0; user < 3; user++) {
      byte[] key = ByteArrayUtil.join(scratch.key("p"), Versionstamp.placeholder(user));
      t.mutate(
          MutationType.SET_VERSIONSTAMPED_KEY,
          Versionstamp.template(key, scratch.key("p").length),
          EMPTY);
    }
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    List<KeyValue> rows = valueOf(scratch.begin().getRange(scratch.all()).asList());
    assertThat(rows).hasSize(3);
    for (int user = 0; user < 3; user++) {
      byte[] stamp = Versionstamp.complete(valueOf(versionstamp), user);
      assertThat(rows.get(user).getKey()).isEqualTo(ByteArrayUtil.join(scratch.key("p"), stamp));
    }
  }

  @Test
  void a_stamped_value_is_unreadable_and_reading_it_fails_the_commit() {
    for (boolean snapshot : new boolean[] {false, true}) {
      Transaction t = scratch.begin();
      stampValue(t, "k", EMPTY, EMPTY);
      ReadTransaction reader = snapshot ? t.snapshot() : t;
      assertThat(codeOf(reader.get(k))).isEqualTo(ACCESSED_UNREADABLE);
      assertThat(codeOf(t.commit())).isEqualTo(ACCESSED_UNREADABLE);
      assertThat(codeOf(t.onError(fdb(ACCESSED_UNREADABLE)))).isEqualTo(ACCESSED_UNREADABLE);
    }
    assertThat(scratch.stored(k)).isNull();
  }

  @Test
  void every_kind_of_read_reaching_a_stamped_value_fails() {
    scratch.set("a");
    Transaction t = scratch.begin();
    stampValue(t, "k", EMPTY, EMPTY);
    assertThat(codeOf(t.getRange(scratch.all()).asList())).isEqualTo(ACCESSED_UNREADABLE);
    assertThat(codeOf(t.getRange(scratch.all(), 1, true).asList())).isEqualTo(ACCESSED_UNREADABLE);
    assertThat(codeOf(t.getKey(KeySelector.firstGreaterThan(scratch.key("a")))))
        .isEqualTo(ACCESSED_UNREADABLE);
    assertThat(codeOf(t.getKey(KeySelector.lastLessThan(scratch.key("z")))))
        .isEqualTo(ACCESSED_UNREADABLE);
  }

  @Test
  void reads_that_do_not_reach_a_stamped_value_succeed() {
    scratch.set("a", "z");
    Transaction t = scratch.begin();
    stampValue(t, "k", EMPTY, EMPTY);
    assertThat(codeOf(t.getRange(scratch.all(), 1).asList())).isEqualTo(OK);
    assertThat(codeOf(t.getRange(scratch.all(), 1, true).asList())).isEqualTo(OK);
    assertThat(codeOf(t.getRange(scratch.prefix(), k).asList())).isEqualTo(OK);
    assertThat(codeOf(t.getRange(scratch.key("k\u0000"), scratch.all().end).asList()))
        .isEqualTo(OK);
    assertThat(codeOf(t.get(scratch.key("a")))).isEqualTo(OK);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void bypass_unreadable_shows_the_operand_to_get_alone() {
    Transaction t = scratch.begin();
    t.options().setBypassUnreadable();
    stampValue(t, "k", bytes("h"), EMPTY);
    byte[] operand = valueOf(t.get(k));
    assertThat(Arrays.copyOf(operand, 1)).isEqualTo(bytes("h"));
    assertThat(codeOf(t.getRange(k, scratch.key("l")).asList())).isEqualTo(ACCESSED_UNREADABLE);
  }

  @Test
  void the_range_that_a_stamped_key_may_fall_into_is_unreadable() {
    Transaction t = scratch.started();
    stampKey(t, "p", "", "row");
    assertThat(codeOf(t.getRange(Range.startsWith(scratch.key("p"))).asList()))
        .isEqualTo(ACCESSED_UNREADABLE);
    assertThat(codeOf(t.commit())).isEqualTo(ACCESSED_UNREADABLE);
  }

  @Test
  void what_is_already_committed_below_a_stamped_key_stays_readable() {
    Transaction earlier = scratch.begin();
    stampKey(earlier, "p", "", "row");
    assertThat(codeOf(earlier.commit())).isEqualTo(OK);
    scratch.set("later");
    Transaction t = scratch.started();
    stampKey(t, "p", "", "new");
    Range range = Range.startsWith(scratch.key("p"));
    assertThat(valueOf(t.getRange(range, 1).asList())).hasSize(1);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(valueOf(scratch.begin().getRange(range).asList()))
        .extracting(row -> Scratch.text(row.getValue()))
        .containsExactly("row", "new");
  }

  @Test
  void without_a_read_version_a_stamped_key_hides_everything_under_its_head() {
    Transaction earlier = scratch.begin();
    stampKey(earlier, "p", "", "row");
    assertThat(codeOf(earlier.commit())).isEqualTo(OK);
    Transaction t = scratch.begin();
    stampKey(t, "p", "", "new");
    assertThat(codeOf(t.getRange(Range.startsWith(scratch.key("p")), 1).asList()))
        .isEqualTo(ACCESSED_UNREADABLE);
  }

  @Test
  void outside_its_range_a_stamped_key_hides_nothing() {
    scratch.set("o", "q");
    Transaction t = scratch.started();
    stampKey(t, "p", "", "row");
    assertThat(scratch.get(t, "o")).isEqualTo("o");
    assertThat(scratch.get(t, "q")).isEqualTo("q");
    assertThat(codeOf(t.getRange(scratch.key("q"), scratch.key("z")).asList())).isEqualTo(OK);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void own_earlier_writes_inside_the_range_become_unreadable_but_are_stored() {
    Transaction t = scratch.started();
    byte[] inside = scratch.key("p\u00f0");
    t.set(inside, bytes("v"));
    stampKey(t, "p", "", "row");
    assertThat(codeOf(t.snapshot().get(inside))).isEqualTo(ACCESSED_UNREADABLE);

    Transaction again = scratch.started();
    again.set(inside, bytes("v"));
    stampKey(again, "p", "", "row");
    assertThat(codeOf(again.commit())).isEqualTo(OK);
    assertThat(scratch.stored(inside)).isEqualTo(bytes("v"));
    assertThat(valueOf(scratch.begin().getRange(scratch.all()).asList())).hasSize(2);
  }

  @Test
  void a_set_over_an_unreadable_key_stays_unreadable() {
    Transaction t = scratch.begin();
    stampValue(t, "k", EMPTY, EMPTY);
    t.set(k, bytes("plain"));
    assertThat(codeOf(t.get(k))).isEqualTo(ACCESSED_UNREADABLE);

    Transaction again = scratch.begin();
    stampValue(again, "k", EMPTY, EMPTY);
    again.set(k, bytes("plain"));
    assertThat(codeOf(again.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("plain"));
  }

  @Test
  void a_clear_makes_readable_and_drops_what_it_covers() {
    scratch.set("k");
    Transaction t = scratch.begin();
    stampValue(t, "k", EMPTY, EMPTY);
    t.clear(k);
    assertThat(valueOf(t.get(k))).isNull();
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isNull();

    Transaction range = scratch.started();
    stampKey(range, "p", "", "row");
    range.clear(Range.startsWith(scratch.key("p")));
    assertThat(valueOf(range.getRange(scratch.all()).asList())).isEmpty();
    assertThat(codeOf(range.commit())).isEqualTo(OK);
    assertThat(valueOf(scratch.begin().getRange(scratch.all()).asList())).isEmpty();
  }

  @Test
  void after_a_clear_stamped_keys_and_values_apply() {
    scratch.set("k", "p\u00f0");
    Transaction t = scratch.begin();
    t.clear(scratch.all());
    stampKey(t, "p", "", "row");
    stampValue(t, "k", EMPTY, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    List<KeyValue> rows = valueOf(scratch.begin().getRange(scratch.all()).asList());
    assertThat(rows).hasSize(2);
    assertThat(rows.get(0).getKey()).isEqualTo(k);
    assertThat(rows.get(1).getValue()).isEqualTo(bytes("row"));
  }

  @Test
  void snapshots_without_read_your_writes_are_never_unreadable() {
    scratch.set("k");
    Transaction t = scratch.begin();
    t.options().setSnapshotRywDisable();
    stampValue(t, "k", EMPTY, EMPTY);
    stampKey(t, "p", "", "row");
    assertThat(scratch.get(t.snapshot(), "k")).isEqualTo("k");
    assertThat(scratch.suffixes(valueOf(t.snapshot().getRange(scratch.all()).asList())))
        .isEqualTo("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void a_stamped_key_conflicts_with_readers_of_its_place_even_with_the_no_conflict_option() {
    for (boolean option : new boolean[] {false, true}) {
      Transaction reader = scratch.started();
      valueOf(reader.getRange(Range.startsWith(scratch.key("p"))).asList());
      Transaction elsewhere = scratch.started();
      valueOf(elsewhere.getRange(Range.startsWith(scratch.key("q"))).asList());
      scratch.committed(
          other -> {
            if (option) {
              other.options().setNextWriteNoWriteConflictRange();
            }
            stampKey(other, "p", "", "row");
          });
      assertThat(scratch.outcome(reader)).isEqualTo(NOT_COMMITTED);
      assertThat(scratch.outcome(elsewhere)).isEqualTo(OK);
    }
  }

  @Test
  void a_stamped_value_conflicts_with_readers_of_its_key_unless_the_option_says_not() {
    Transaction reader = scratch.started();
    valueOf(reader.get(k));
    scratch.committed(other -> stampValue(other, "k", EMPTY, EMPTY));
    assertThat(scratch.outcome(reader)).isEqualTo(NOT_COMMITTED);

    Transaction again = scratch.started();
    valueOf(again.get(k));
    scratch.committed(
        other -> {
          other.options().setNextWriteNoWriteConflictRange();
          stampValue(other, "k", EMPTY, EMPTY);
        });
    assertThat(scratch.outcome(again)).isEqualTo(OK);
  }

  @Test
  void get_versionstamp_must_be_asked_before_the_commit() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(t.getVersionstamp())).isEqualTo(USED_DURING_COMMIT);
  }

  @Test
  void get_versionstamp_of_a_read_only_transaction() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    valueOf(t.get(k));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(codeOf(versionstamp)).isEqualTo(NO_COMMIT_VERSION);
  }

  @Test
  void get_versionstamp_of_a_failed_commit() {
    Transaction t = scratch.started();
    valueOf(t.get(k));
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    scratch.set("k");
    assertThat(scratch.outcome(t)).isEqualTo(NOT_COMMITTED);
    assertThat(codeOf(versionstamp)).isEqualTo(TRANSACTION_INVALID_VERSION);
  }

  @Test
  void get_versionstamp_ends_with_the_transaction() {
    Transaction cancelled = scratch.begin();
    CompletableFuture<byte[]> first = cancelled.getVersionstamp();
    cancelled.cancel();
    assertThat(codeOf(first)).isEqualTo(TRANSACTION_CANCELLED);
    Transaction closed = scratch.begin();
    CompletableFuture<byte[]> second = closed.getVersionstamp();
    closed.close();
    assertThat(codeOf(second)).isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void a_blind_set_has_a_versionstamp_too() {
    Transaction t = scratch.begin();
    CompletableFuture<byte[]> versionstamp = t.getVersionstamp();
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(ByteBuffer.wrap(valueOf(versionstamp)).getLong()).isEqualTo(t.getCommittedVersion());
  }

  private static FDBException fdb(int code) {
    return new FDBException("", code);
  }

  private int commitValue(byte[] operand) {
    Transaction t = scratch.begin();
    t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, k, operand);
    return codeOf(t.commit());
  }

  private int commitKey(byte[] template) {
    Transaction t = scratch.begin();
    t.mutate(MutationType.SET_VERSIONSTAMPED_KEY, template, EMPTY);
    return codeOf(t.commit());
  }

  /** Sets head‖versionstamp with user version 7‖tail. */
  private void stampKey(Transaction t, String head, String tail, String value) {
    byte[] begin = scratch.key(head);
    byte[] key = ByteArrayUtil.join(begin, Versionstamp.placeholder(7), bytes(tail));
    t.mutate(
        MutationType.SET_VERSIONSTAMPED_KEY,
        Versionstamp.template(key, begin.length),
        bytes(value));
  }

  private void stampValue(Transaction t, String key, byte[] head, byte[] tail) {
    byte[] operand = ByteArrayUtil.join(head, Versionstamp.placeholder(7), tail);
    t.mutate(
        MutationType.SET_VERSIONSTAMPED_VALUE,
        scratch.key(key),
        Versionstamp.template(operand, head.length));
  }

  private static byte[] withOffset(byte[] bytes, int offset) {
    ByteBuffer little = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    return ByteArrayUtil.join(bytes, little.putInt(offset).array());
  }
}
