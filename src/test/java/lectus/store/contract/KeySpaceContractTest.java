package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.INVERTED_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.SPECIAL_KEYS_NO_MODULE_FOUND;
import static lectus.store.contract.ErrorCodes.SPECIAL_KEYS_WRITE_DISABLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.FF;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which keys there are, and who may touch which (docs/foundationdb-contract.md, section 3). */
class KeySpaceContractTest {
  private static final byte[] BEYOND = bytes("\u00ff\u0000");
  private static final byte[] SYSTEM = bytes("\u00ff/lectus-contract");
  private static final byte[] SPECIAL = bytes("\u00ff\u00ff/lectus-contract");

  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] a = scratch.key("a");
  private final byte[] b = scratch.key("b");

  @AfterEach
  void close() {
    scratch.close();
  }

  @Test
  void the_empty_key_and_the_empty_value_are_legal() {
    scratch.committed(
        t -> {
          t.set(EMPTY, bytes("root"));
          t.set(a, EMPTY);
        });
    Transaction t = scratch.begin();
    assertThat(valueOf(t.get(EMPTY))).isEqualTo(bytes("root"));
    assertThat(valueOf(t.get(a))).isEmpty();
    assertThat(valueOf(t.getRange(EMPTY, bytes("\u0000")).asList())).hasSize(1);
    assertThat(valueOf(t.getKey(KeySelector.firstGreaterOrEqual(EMPTY)))).isEmpty();
    t.clear(EMPTY);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(EMPTY)).isNull();
  }

  @Test
  void keys_compare_unsigned() {
    scratch.set("\u0000", "\u007f", "\u0080", "\u00fe", "\u00ff", "a", "a\u0000", "aa");
    Transaction t = scratch.begin();
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList())))
        .isEqualTo("\u0000 a a\u0000 aa \u007f \u0080 \u00fe \u00ff");
  }

  @Test
  void keys_are_legal_below_ff_without_an_option() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.get(FF))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(codeOf(t.snapshot().get(FF))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(codeOf(t.watch(FF))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(codeOf(t.get(SYSTEM))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.set(FF, EMPTY))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.clear(FF))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.mutate(MutationType.ADD, FF, EMPTY)))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.set(SYSTEM, EMPTY))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void bounds_of_ranges_are_legal_up_to_ff_itself() {
    Transaction t = scratch.begin();
    assertThat(codeOf(t.getRange(EMPTY, FF, 1).asList())).isEqualTo(OK);
    assertThat(codeOf(t.getRange(EMPTY, BEYOND, 1).asList())).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(codeOf(t.getKey(KeySelector.lastLessThan(FF)))).isEqualTo(OK);
    assertThat(codeOf(t.getKey(KeySelector.lastLessThan(BEYOND))))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.addReadConflictRange(a, FF))).isEqualTo(OK);
    assertThat(commit(tx -> tx.addReadConflictRange(a, BEYOND))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.addWriteConflictRange(a, BEYOND)))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
    assertThat(commit(tx -> tx.clear(a, BEYOND))).isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);
  }

  @Test
  void the_whole_key_space_may_be_cleared_and_added_to_the_conflict_ranges() {
    Transaction t = scratch.begin();
    t.clear(EMPTY, FF);
    t.addReadConflictRange(EMPTY, FF);
    t.addWriteConflictRange(EMPTY, FF);
    assertThat(valueOf(t.getRange(EMPTY, FF).asList())).isEmpty();
    assertThat(codeOf(t.getApproximateSize())).isEqualTo(OK);
  }

  @Test
  void system_keys_need_an_option() {
    Transaction reader = scratch.begin();
    reader.options().setReadSystemKeys();
    assertThat(valueOf(reader.get(SYSTEM))).isNull();
    assertThat(codeOf(reader.getRange(FF, BEYOND, 1).asList())).isEqualTo(OK);
    assertThat(commit(t -> t.options().setReadSystemKeys(), t -> t.set(SYSTEM, EMPTY)))
        .isEqualTo(KEY_OUTSIDE_LEGAL_RANGE);

    Transaction writer = scratch.begin();
    writer.options().setAccessSystemKeys();
    writer.set(SYSTEM, bytes("v"));
    assertThat(valueOf(writer.get(SYSTEM))).isEqualTo(bytes("v"));
    writer.clear(SYSTEM);
    assertThat(valueOf(writer.get(SYSTEM))).isNull();
    assertThat(codeOf(writer.getApproximateSize())).isEqualTo(OK);
  }

  @Test
  void special_keys_have_errors_of_their_own() {
    assertThat(codeOf(scratch.begin().get(SPECIAL))).isEqualTo(SPECIAL_KEYS_NO_MODULE_FOUND);
    assertThat(commit(t -> t.set(SPECIAL, EMPTY))).isEqualTo(SPECIAL_KEYS_WRITE_DISABLED);
    assertThat(commit(t -> t.clear(SPECIAL))).isEqualTo(SPECIAL_KEYS_WRITE_DISABLED);
  }

  @Test
  void clearing_an_inverted_range_fails_an_empty_one_does_nothing() {
    assertThat(commit(t -> t.clear(b, a))).isEqualTo(INVERTED_RANGE);
    assertThat(commit(t -> t.clear(new Range(b, a)))).isEqualTo(INVERTED_RANGE);
    scratch.set("a");
    Transaction t = scratch.begin();
    t.clear(a, a);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(t.getCommittedVersion()).isEqualTo(-1);
    assertThat(scratch.stored(a)).isEqualTo(bytes("a"));
  }

  @Test
  void reading_an_inverted_range_is_empty_and_conflicts_with_nothing() {
    scratch.set("a", "b");
    Transaction t = scratch.started();
    assertThat(valueOf(t.getRange(b, a).asList())).isEmpty();
    assertThat(valueOf(t.getRange(a, a).asList())).isEmpty();
    assertThat(valueOf(t.getRange(b, a, 1, true).asList())).isEmpty();
    scratch.set("a", "aa", "b");
    assertThat(scratch.outcome(t)).isEqualTo(OK);
  }

  @Test
  void clear_of_a_range_object_clears_its_keys() {
    scratch.set("a", "b", "c", "d");
    scratch.committed(t -> t.clear(new Range(b, scratch.key("d"))));
    assertThat(scratch.suffixes(valueOf(scratch.begin().getRange(scratch.all()).asList())))
        .isEqualTo("a d");
    scratch.committed(t -> t.clear(Range.startsWith(a)));
    assertThat(scratch.suffixes(valueOf(scratch.begin().getRange(scratch.all()).asList())))
        .isEqualTo("d");
  }

  @SafeVarargs
  private int commit(Consumer<Transaction>... steps) {
    Transaction t = scratch.begin();
    for (Consumer<Transaction> step : steps) {
      step.accept(t);
    }
    return codeOf(t.commit());
  }
}
