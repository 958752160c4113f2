package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.INVALID_OPTION_VALUE;
import static lectus.store.contract.ErrorCodes.KEY_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.TRANSACTION_TOO_LARGE;
import static lectus.store.contract.ErrorCodes.VALUE_TOO_LARGE;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.Arrays;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sizes of keys, values and transactions (docs/foundationdb-contract.md, section 2). */
class LimitsContractTest {
  private static final int MAX_KEY = 10_000;
  private static final int MAX_VALUE = 100_000;

  /** The overhead of a mutation or a conflict range depends on the build. */
  private static final int MAX_OVERHEAD = 150;

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());

  @AfterEach
  void close() {
    scratch.close();
  }

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
}
