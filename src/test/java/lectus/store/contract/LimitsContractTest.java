package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.CLIENT_INVALID_OPERATION;
import static lectus.store.contract.ErrorCodes.INVALID_OPTION_VALUE;
import static lectus.store.contract.ErrorCodes.INVERTED_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_CANCELLED;
import static lectus.store.contract.ErrorCodes.TRANSACTION_READ_ONLY;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.VALUE_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.WATCHES_DISABLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Sizes of keys, values and transactions, estimated sizes and split points, and options of a
 * transaction (docs/foundationdb-contract.md, sections 2, 5, 9 and 12).
 */
class LimitsContractTest {
  private static final int MAX_KEY = 10_000;

  private static final int MAX_VALUE = 100_000;

  /** The overhead of a mutation or a conflict range depends on the build. */
  private static final int MAX_OVERHEAD = 150;

  private static final byte[] BEYOND = bytes("\u00ff\u0000");

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());

  private final byte[] k = scratch.key("k");

  @Test
  void a_key_has_up_to_10000_bytes() {
    byte[] largest = scratch.keyOfLength(MAX_KEY);
    byte[] tooLarge = scratch.keyOfLength(MAX_KEY + 1);
    assertThat(commit(t -> t.set(largest, bytes("v")))).isEqualTo(OK);
    assertThat(scratch.stored(largest)).isEqualTo(bytes("v"));
    assertThat(commit(t -> t.mutate(MutationType.ADD, largest, EMPTY))).isEqualTo(OK);
    assertThat(commit(t -> t.set(tooLarge, EMPTY))).isEqualTo(KEY_TOO_LARGE);
    assertThat(commit(t -> t.mutate(MutationType.ADD, tooLarge, EMPTY))).isEqualTo(KEY_TOO_LARGE);
  }

  @Test
  void a_value_and_an_operand_have_up_to_100000_bytes() {
    byte[] key = scratch.key("k");
    byte[] largest = value(MAX_VALUE);
    byte[] tooLarge = value(MAX_VALUE + 1);
    assertThat(commit(t -> t.set(key, largest))).isEqualTo(OK);
    assertThat(scratch.stored(key)).isEqualTo(largest);
    assertThat(commit(t -> t.mutate(MutationType.BIT_XOR, key, largest))).isEqualTo(OK);
    assertThat(scratch.stored(key)).isEqualTo(new byte[MAX_VALUE]);
    assertThat(commit(t -> t.set(key, tooLarge))).isEqualTo(VALUE_TOO_LARGE);
    assertThat(commit(t -> t.mutate(MutationType.BIT_XOR, key, tooLarge)))
        .isEqualTo(VALUE_TOO_LARGE);
  }

  @Test
  void the_first_limit_broken_sticks() {
    Transaction t = scratch.begin();
    t.set(scratch.key("k"), value(MAX_VALUE + 1));
    t.set(scratch.keyOfLength(MAX_KEY + 1), EMPTY);
    t.set(scratch.key("k"), EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(VALUE_TOO_LARGE);
  }

  @Test
  void system_access_takes_keys_of_10008_bytes_and_system_keys_of_30000() {
    assertThat(sizeWithSystemAccess(scratch.keyOfLength(10_008))).isEqualTo(OK);
    assertThat(sizeWithSystemAccess(scratch.keyOfLength(10_009))).isEqualTo(KEY_TOO_LARGE);
    assertThat(sizeWithSystemAccess(systemKey(30_000))).isEqualTo(OK);
    assertThat(sizeWithSystemAccess(systemKey(30_001))).isEqualTo(KEY_TOO_LARGE);
  }

  @Test
  void the_key_of_a_watch_is_limited_too() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.watch(scratch.keyOfLength(MAX_KEY + 1)))).isEqualTo(KEY_TOO_LARGE);
    t.set(scratch.key("k"), EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    Transaction other = scratch.begin();
    var watch = other.watch(scratch.keyOfLength(MAX_KEY));
    assertThat(codeOf(other.commit())).isEqualTo(OK);
    assertThat(watch).isNotDone();
    watch.cancel(true);
  }

  @Test
  void the_four_offset_bytes_of_a_versionstamp_template_count() {
    assertThat(commit(t -> stampKey(t, MAX_KEY))).isEqualTo(OK);
    assertThat(commit(t -> stampKey(t, MAX_KEY + 1))).isEqualTo(KEY_TOO_LARGE);
    assertThat(commit(t -> stampValue(t, MAX_VALUE))).isEqualTo(OK);
    assertThat(commit(t -> stampValue(t, MAX_VALUE + 1))).isEqualTo(VALUE_TOO_LARGE);
  }

  @Test
  void a_transaction_has_up_to_ten_million_bytes() {
    assertThat(commit(t -> fill(t, 9_980_000))).isEqualTo(OK);
    assertThat(commit(t -> fill(t, 10_020_000))).isEqualTo(TRANSACTION_TOO_LARGE);
    assertThat(commit(t -> fill(t, 10_100_000))).isEqualTo(TRANSACTION_TOO_LARGE);
  }

  @Test
  void a_transaction_that_is_too_large_is_not_retryable() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.onError(new FDBException("", TRANSACTION_TOO_LARGE))))
        .isEqualTo(TRANSACTION_TOO_LARGE);
  }

  @Test
  void the_size_limit_option_lowers_the_limit() {
    byte[] key = scratch.key("k");
    assertThat(commitWithin(2_000, t -> t.set(key, value(1_600)))).isEqualTo(OK);
    assertThat(commitWithin(2_000, t -> t.set(key, value(2_001)))).isEqualTo(TRANSACTION_TOO_LARGE);
    assertThat(commitWithin(32, t -> t.set(key, value(100)))).isEqualTo(TRANSACTION_TOO_LARGE);
    assertThat(commitWithin(31, t -> {})).isEqualTo(INVALID_OPTION_VALUE);
    assertThat(commitWithin(32, t -> {})).isEqualTo(OK);
    assertThat(commitWithin(10_000_000, t -> {})).isEqualTo(OK);
    assertThat(commitWithin(10_000_001, t -> {})).isEqualTo(INVALID_OPTION_VALUE);
  }

  @Test
  void conflict_ranges_weigh_too_but_not_in_a_read_only_transaction() {
    Consumer<Transaction> reads =
        t -> {
          for (int i = 0; i < 20; i++) {
            t.addReadConflictKey(scratch.key(i + "x".repeat(100)));
          }
        };
    byte[] key = scratch.key("k");
    assertThat(commitWithin(2_000, reads)).isEqualTo(OK);
    assertThat(commitWithin(2_000, t -> t.set(key, EMPTY))).isEqualTo(OK);
    assertThat(commitWithin(2_000, reads.andThen(t -> t.set(key, EMPTY))))
        .isEqualTo(TRANSACTION_TOO_LARGE);
  }

  @Test
  void a_key_read_often_weighs_once_because_ranges_are_merged_at_commit() {
    byte[] key = scratch.key("x".repeat(100));
    assertThat(
            commitWithin(
                2_000,
                t -> {
                  for (int i = 0; i < 50; i++) {
                    t.addReadConflictKey(key);
                  }
                  t.set(scratch.key("k"), EMPTY);
                }))
        .isEqualTo(OK);
  }

  @Test
  void approximate_size_starts_at_zero_and_counts_each_call() {
    Transaction t = scratch.begin();
    byte[] key = scratch.key("k".repeat(80));
    assertThat(valueOf(t.getApproximateSize())).isZero();
    t.set(key, value(500));
    long set = valueOf(t.getApproximateSize());
    assertThat(set).isBetween(3L * key.length + 501, 3L * key.length + 501 + MAX_OVERHEAD);
    t.set(key, value(500));
    assertThat(valueOf(t.getApproximateSize())).isEqualTo(2 * set);
    t.options().setNextWriteNoWriteConflictRange();
    t.set(key, value(500));
    long withoutConflict = valueOf(t.getApproximateSize()) - 2 * set;
    assertThat(set - withoutConflict).isBetween(2L * key.length + 1, 2L * key.length + 41);
    t.clear(key);
    long clear = valueOf(t.getApproximateSize()) - 2 * set - withoutConflict;
    assertThat(clear).isBetween(4L * key.length + 2, 4L * key.length + 2 + MAX_OVERHEAD);
  }

  @Test
  void approximate_size_counts_reads_that_can_conflict() {
    Transaction t = scratch.begin();
    byte[] key = scratch.key("k".repeat(80));
    valueOf(t.snapshot().get(key));
    assertThat(valueOf(t.getApproximateSize())).isZero();
    valueOf(t.get(key));
    long read = valueOf(t.getApproximateSize());
    assertThat(read).isBetween(2L * key.length + 1, 2L * key.length + 41);
    t.addReadConflictKey(key);
    assertThat(valueOf(t.getApproximateSize())).isEqualTo(2 * read);
    t.addWriteConflictKey(key);
    assertThat(valueOf(t.getApproximateSize())).isGreaterThan(2 * read);
  }

  @Test
  void oversize_keys_read_as_missing() {
    byte[] oversize = scratch.keyOfLength(20_000);
    Transaction t = scratch.begin();
    assertThat(valueOf(t.get(oversize))).isNull();
    assertThat(valueOf(t.snapshot().get(oversize))).isNull();
    t.clear(oversize);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void oversize_range_bounds_are_cut() {
    scratch.set("a", "z");
    byte[] oversize = scratch.keyOfLength(20_000);
    Transaction t = scratch.begin();
    assertThat(scratch.suffixes(valueOf(t.getRange(oversize, scratch.all().end).asList())))
        .isEqualTo("z");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.prefix(), oversize).asList())))
        .isEqualTo("a");
    t.addReadConflictRange(scratch.prefix(), oversize);
    t.addWriteConflictRange(oversize, scratch.all().end);
    t.clear(oversize, scratch.all().end);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(scratch.key("a"))).isNotNull();
    assertThat(scratch.stored(scratch.key("z"))).isNull();
  }

  private int commit(Consumer<Transaction> writes) {
    Transaction t = scratch.begin();
    writes.accept(t);
    return codeOf(t.commit());
  }

  private int commitWithin(long sizeLimit, Consumer<Transaction> writes) {
    return commit(
        t -> {
          t.options().setSizeLimit(sizeLimit);
          writes.accept(t);
        });
  }

  private int sizeWithSystemAccess(byte[] key) {
    Transaction t = scratch.begin();
    t.options().setAccessSystemKeys();
    t.set(key, EMPTY);
    return codeOf(t.getApproximateSize());
  }

  private static byte[] systemKey(int length) {
    byte[] key = value(length);
    key[0] = (byte) 0xff;
    return key;
  }

  private void stampKey(Transaction t, int templateLength) {
    byte[] key = scratch.keyOfLength(templateLength - 4);
    byte[] offset = {(byte) scratch.prefix().length, 0, 0, 0};
    t.mutate(MutationType.SET_VERSIONSTAMPED_KEY, ByteArrayUtil.join(key, offset), EMPTY);
  }

  private void stampValue(Transaction t, int templateLength) {
    byte[] template = Arrays.copyOf(value(templateLength - 4), templateLength);
    t.mutate(MutationType.SET_VERSIONSTAMPED_VALUE, scratch.key("v"), template);
  }

  /** Sets keys without reads or conflict ranges. Keys and values add up to {@code size} bytes. */
  private void fill(Transaction t, int size) {
    int left = size;
    for (int i = 0; left > 0; i++) {
      byte[] key = scratch.key("f" + i);
      int length = Math.max(0, Math.min(MAX_VALUE, left - key.length - 44));
      t.options().setNextWriteNoWriteConflictRange();
      t.set(key, value(length));
      left -= key.length + length + 44;
    }
  }

  @Test
  void an_estimate_is_never_negative_and_answers_for_every_range() {
    Transaction t = scratch.begin();
    assertThat(valueOf(t.getEstimatedRangeSizeBytes(scratch.all()))).isNotNegative();
    assertThat(valueOf(t.snapshot().getEstimatedRangeSizeBytes(scratch.all()))).isNotNegative();
    assertThat(valueOf(t.getEstimatedRangeSizeBytes(scratch.key("a"), scratch.key("b"))))
        .isNotNegative();
  }

  @Test
  void estimates_of_inverted_ranges_fail() {
    Transaction t = scratch.begin();
    byte[] a = scratch.key("a");
    byte[] b = scratch.key("b");
    assertThat(codeOf(t.getEstimatedRangeSizeBytes(b, a))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(t.getRangeSplitPoints(b, a, 1_000))).isEqualTo(INVERTED_RANGE);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void split_points_begin_and_end_with_the_range() {
    scratch.committed(
        t -> {
          for (int i = 0; i < 100; i++) {
            t.set(scratch.key("k%03d".formatted(i)), value(10_000));
          }
        });
    Transaction t = scratch.begin();
    List<byte[]> points =
        valueOf(t.getRangeSplitPoints(scratch.all().begin, scratch.all().end, 50_000)).getKeys();
    assertThat(points.get(0)).isEqualTo(scratch.all().begin);
    assertThat(points.get(points.size() - 1)).isEqualTo(scratch.all().end);
    assertThat(points).isSortedAccordingTo(Arrays::compareUnsigned);
    assertThat(valueOf(t.snapshot().getRangeSplitPoints(scratch.all(), 50_000)).getKeys())
        .isNotEmpty();
  }

  @Test
  void split_points_beyond_the_key_ff_are_refused() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.getRangeSplitPoints(scratch.prefix(), BEYOND, 1_000)))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void estimates_and_split_points_conflict_with_nothing() {
    Transaction t = scratch.started();
    valueOf(t.getEstimatedRangeSizeBytes(scratch.all()));
    valueOf(t.getRangeSplitPoints(scratch.all(), 1_000));
    scratch.set("a");
    assertThat(scratch.outcome(t)).isEqualTo(OK);
  }

  @Test
  void estimates_and_split_points_fail_on_an_ended_transaction() {
    Transaction cancelled = scratch.begin();
    cancelled.cancel();
    assertThat(codeOf(cancelled.getEstimatedRangeSizeBytes(scratch.all())))
        .isEqualTo(TRANSACTION_CANCELLED);
    assertThat(codeOf(cancelled.getRangeSplitPoints(scratch.all(), 1_000)))
        .isEqualTo(TRANSACTION_CANCELLED);
  }

  @Test
  void read_your_writes_disable_hides_own_writes() {
    scratch.set("k");
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    t.set(k, bytes("own"));
    t.clear(scratch.key("x"));
    t.set(scratch.key("l"), EMPTY);
    assertThat(scratch.get(t, "k")).isEqualTo("k");
    assertThat(scratch.get(t.snapshot(), "k")).isEqualTo("k");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList()))).isEqualTo("k");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(k)).isEqualTo(bytes("own"));
  }

  @Test
  void read_your_writes_disable_still_conflicts() {
    Transaction t = scratch.started();
    Transaction disabled = scratch.begin();
    disabled.options().setReadYourWritesDisable();
    disabled.setReadVersion(valueOf(t.getReadVersion()));
    disabled.set(k, EMPTY);
    valueOf(disabled.get(k));
    scratch.set("k");
    assertThat(codeOf(disabled.commit())).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void read_your_writes_disable_comes_first_or_fails_late() {
    Transaction afterWrite = scratch.begin();
    afterWrite.set(k, EMPTY);
    afterWrite.options().setReadYourWritesDisable();
    assertThat(codeOf(afterWrite.commit())).isEqualTo(CLIENT_INVALID_OPERATION);
    Transaction afterRead = scratch.begin();
    valueOf(afterRead.get(k));
    afterRead.options().setReadYourWritesDisable();
    assertThat(codeOf(afterRead.get(k))).isEqualTo(CLIENT_INVALID_OPERATION);
  }

  @Test
  void watches_need_read_your_writes() {
    Transaction t = scratch.begin();
    t.options().setReadYourWritesDisable();
    assertThat(codeOf(t.watch(k))).isEqualTo(WATCHES_DISABLED);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
  }

  @Test
  void snapshot_read_your_writes_count_up_and_down() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    TransactionOptions options = t.options();
    assertThat(valueOf(t.snapshot().get(k))).isEmpty();
    options.setSnapshotRywDisable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
    assertThat(valueOf(t.snapshot().getRange(scratch.all()).asList())).isEmpty();
    assertThat(valueOf(t.get(k))).isEmpty();
    options.setSnapshotRywDisable();
    options.setSnapshotRywEnable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
    options.setSnapshotRywEnable();
    assertThat(valueOf(t.snapshot().get(k))).isEmpty();
    assertThat(valueOf(t.snapshot().getRange(scratch.all()).asList())).hasSize(1);
  }

  @Test
  void snapshot_options_work_through_the_snapshot_too() {
    Transaction t = scratch.begin();
    t.set(k, EMPTY);
    t.snapshot().options().setSnapshotRywDisable();
    assertThat(valueOf(t.snapshot().get(k))).isNull();
  }

  @Test
  void options_that_ask_for_treatment_are_accepted() {
    List<Consumer<TransactionOptions>> options =
        List.of(
            TransactionOptions::setPriorityBatch,
            TransactionOptions::setPrioritySystemImmediate,
            TransactionOptions::setCausalReadRisky,
            TransactionOptions::setLockAware,
            TransactionOptions::setReadPriorityLow,
            TransactionOptions::setReadServerSideCacheDisable,
            o -> o.setDebugTransactionIdentifier("id"),
            o -> o.setTransactionLoggingMaxFieldLength(100),
            o -> o.setMaxRetryDelay(5),
            o -> o.setTimeout(60_000),
            o -> o.setRetryLimit(3));
    for (Consumer<TransactionOptions> option : options) {
      Transaction t = scratch.begin();
      option.accept(t.options());
      valueOf(t.get(k));
      t.set(k, EMPTY);
      assertThat(codeOf(t.commit())).isEqualTo(OK);
    }
  }

  @Test
  void read_lock_aware_reads_but_does_not_write_unless_lock_aware_too() {
    Transaction t = scratch.begin();
    t.options().setReadLockAware();
    valueOf(t.get(k));
    t.set(k, EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(TRANSACTION_READ_ONLY);
    Transaction reading = scratch.begin();
    reading.options().setReadLockAware();
    valueOf(reading.get(k));
    assertThat(codeOf(reading.commit())).isEqualTo(OK);
    Transaction both = scratch.begin();
    both.options().setReadLockAware();
    both.options().setLockAware();
    both.set(k, EMPTY);
    assertThat(codeOf(both.commit())).isEqualTo(OK);
  }

  @Test
  void raw_access_takes_longer_keys_but_no_system_keys() {
    for (int length : new int[] {10_008, 10_009}) {
      Transaction t = scratch.begin();
      t.options().setRawAccess();
      t.set(scratch.keyOfLength(length), EMPTY);
      assertThat(codeOf(t.getApproximateSize())).isEqualTo(length == 10_008 ? OK : KEY_TOO_LARGE);
    }
    Transaction t = scratch.begin();
    t.options().setRawAccess();
    assertThat(codeOf(t.get(bytes("\u00ff/lectus-contract")))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void illegal_option_values_fail_late() {
    List<Consumer<TransactionOptions>> options =
        List.of(
            o -> o.setTimeout(-1),
            o -> o.setTimeout(Integer.MAX_VALUE + 1L),
            o -> o.setRetryLimit(-2),
            o -> o.setMaxRetryDelay(-1),
            o -> o.setSizeLimit(31),
            o -> o.setSizeLimit(10_000_001));
    for (Consumer<TransactionOptions> option : options) {
      Transaction t = scratch.begin();
      option.accept(t.options());
      assertThat(codeOf(t.get(k))).isEqualTo(INVALID_OPTION_VALUE);
      assertThat(codeOf(t.commit())).isEqualTo(INVALID_OPTION_VALUE);
    }
  }
}
