package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.EXACT_MODE_WITHOUT_LIMITS;
import static lectus.store.contract.ErrorCodes.INVERTED_RANGE;
import static lectus.store.contract.ErrorCodes.KEY_OUTSIDE_LEGAL_RANGE;
import static lectus.store.contract.ErrorCodes.NOT_COMMITTED;
import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.ErrorCodes.RANGE_LIMITS_INVALID;
import static lectus.store.contract.ErrorCodes.SPECIAL_KEYS_NO_MODULE_FOUND;
import static lectus.store.contract.ErrorCodes.SPECIAL_KEYS_WRITE_DISABLED;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.FF;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import com.apple.foundationdb.async.AsyncIterator;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Which keys there are, who may touch which, range reads, and key selectors, checked against their
 * formula over all visible keys of the store (docs/foundationdb-contract.md, sections 3 and 4).
 */
class RangesContractTest {
  private static final byte[] BEYOND = bytes("\u00ff\u0000");

  private static final byte[] SYSTEM = bytes("\u00ff/lectus-contract");

  private static final byte[] SPECIAL = bytes("\u00ff\u00ff/lectus-contract");

  @RegisterExtension static final TestStores stores = new TestStores();

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());

  private final byte[] a = scratch.key("a");

  private final byte[] b = scratch.key("b");

  @ParameterizedTest
  @EnumSource(StreamingMode.class)
  void every_mode_gives_the_same_rows(StreamingMode mode) {
    int rows = 40;
    scratch.committed(t -> fill(t, 0, rows, 300));
    Transaction t = scratch.begin();
    for (int i = 0; i < rows; i += 4) {
      t.clear(name(i));
      t.set(name(i + 1), bytes("own"));
      t.set(scratch.key("r%04d+".formatted(i + 2)), bytes("new"));
    }
    List<String> expected = ownView(rows);
    for (int limit = 1; limit <= expected.size() + 1; limit++) {
      checkRange(t, mode, limit, expected);
    }
    if (mode != StreamingMode.EXACT) {
      checkRange(t, mode, ReadTransaction.ROW_LIMIT_UNLIMITED, expected);
    }
    checkRange(t.snapshot(), mode, 7, expected);
  }

  @Test
  void many_rows_come_in_chunks() {
    int rows = 3_000;
    scratch.committed(t -> fill(t, 0, rows, 100));
    Transaction t = scratch.begin();
    for (StreamingMode mode : StreamingMode.values()) {
      int limit = mode == StreamingMode.EXACT ? rows : 0;
      List<KeyValue> forward = new ArrayList<>();
      t.getRange(scratch.all(), limit, false, mode).iterator().forEachRemaining(forward::add);
      assertThat(forward).as("%s", mode).hasSize(rows);
      assertThat(forward.get(rows - 1).getKey()).isEqualTo(name(rows - 1));
      List<KeyValue> backward = new ArrayList<>();
      t.getRange(scratch.all(), limit, true, mode).iterator().forEachRemaining(backward::add);
      Collections.reverse(backward);
      assertThat(backward).as("%s", mode).isEqualTo(forward);
    }
  }

  @Test
  void illegal_limits_fail_the_read() {
    scratch.set("a", "b");
    Transaction t = scratch.begin();
    Range all = scratch.all();
    assertThat(codeOf(t.getRange(all, -2).asList())).isEqualTo(RANGE_LIMITS_INVALID);
    assertThat(codeOf(t.getRange(all, -2).iterator().onHasNext())).isEqualTo(RANGE_LIMITS_INVALID);
    assertThat(codeOf(t.getRange(all, 0, false, StreamingMode.EXACT).asList()))
        .isEqualTo(EXACT_MODE_WITHOUT_LIMITS);
    assertThat(codeOf(t.getRange(all, 0, false, StreamingMode.EXACT).iterator().onHasNext()))
        .isEqualTo(EXACT_MODE_WITHOUT_LIMITS);
    assertThat(codeOf(t.getRange(all, -1).asList())).isEqualTo(EXACT_MODE_WITHOUT_LIMITS);
    assertThat(codeOf(t.getRange(all, -1, false, StreamingMode.EXACT).asList()))
        .isEqualTo(EXACT_MODE_WITHOUT_LIMITS);
    for (StreamingMode mode : StreamingMode.values()) {
      if (mode != StreamingMode.EXACT) {
        AsyncIterator<KeyValue> rows = t.getRange(all, -1, false, mode).iterator();
        assertThat(scratch.suffix(rows.next().getKey())).as("%s", mode).isEqualTo("a");
      }
    }
  }

  @Test
  void the_twelve_overloads_of_get_range_agree() {
    scratch.set("a", "b", "c", "d");
    Transaction t = scratch.begin();
    Range range = new Range(scratch.key("b"), scratch.key("d"));
    var begin = KeySelector.firstGreaterOrEqual(range.begin);
    var end = KeySelector.firstGreaterOrEqual(range.end);
    StreamingMode mode = StreamingMode.WANT_ALL;
    for (ReadTransaction r : List.of(t, t.snapshot())) {
      assertThat(rows(r.getRange(range))).isEqualTo("b c");
      assertThat(rows(r.getRange(range, 1))).isEqualTo("b");
      assertThat(rows(r.getRange(range, 1, true))).isEqualTo("c");
      assertThat(rows(r.getRange(range, 2, true, mode))).isEqualTo("c b");
      assertThat(rows(r.getRange(range.begin, range.end))).isEqualTo("b c");
      assertThat(rows(r.getRange(range.begin, range.end, 1))).isEqualTo("b");
      assertThat(rows(r.getRange(range.begin, range.end, 1, true))).isEqualTo("c");
      assertThat(rows(r.getRange(range.begin, range.end, 2, true, mode))).isEqualTo("c b");
      assertThat(rows(r.getRange(begin, end))).isEqualTo("b c");
      assertThat(rows(r.getRange(begin, end, 1))).isEqualTo("b");
      assertThat(rows(r.getRange(begin, end, 1, true))).isEqualTo("c");
      assertThat(rows(r.getRange(begin, end, 2, true, mode))).isEqualTo("c b");
    }
  }

  @Test
  void a_range_is_read_anew_by_each_iterator() {
    scratch.set("a");
    Transaction t = scratch.begin();
    var range = t.getRange(scratch.all());
    assertThat(rows(range)).isEqualTo("a");
    t.set(scratch.key("b"), EMPTY);
    assertThat(rows(range)).isEqualTo("a b");
  }

  @Test
  void an_iterator_ends_once() {
    scratch.set("a");
    AsyncIterator<KeyValue> rows = scratch.begin().getRange(scratch.all()).iterator();
    assertThat(rows.hasNext()).isTrue();
    assertThat(rows.hasNext()).isTrue();
    assertThat(valueOf(rows.onHasNext())).isTrue();
    assertThat(rows.next().getValue()).isEqualTo(bytes("a"));
    assertThat(rows.hasNext()).isFalse();
    assertThat(valueOf(rows.onHasNext())).isFalse();
    assertThatThrownBy(rows::next)
        .satisfiesAnyOf(
            e -> assertThat(e).isInstanceOf(NoSuchElementException.class),
            e -> assertThat(e).hasCauseInstanceOf(NoSuchElementException.class));
  }

  @Test
  void remove_clears_the_last_row() {
    scratch.set("a", "b", "c");
    Transaction t = scratch.begin();
    AsyncIterator<KeyValue> rows = t.getRange(scratch.all()).iterator();
    assertThatThrownBy(rows::remove).isInstanceOf(IllegalStateException.class);
    rows.next();
    rows.next();
    rows.remove();
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(rows(scratch.begin().getRange(scratch.all()))).isEqualTo("a c");
  }

  @Test
  void a_cancelled_iterator_throws() {
    scratch.set("a", "b");
    AsyncIterator<KeyValue> rows = scratch.begin().getRange(scratch.all()).iterator();
    rows.next();
    rows.cancel();
    assertThatThrownBy(rows::next).isInstanceOf(CancellationException.class);
    assertThatThrownBy(rows::onHasNext).isInstanceOf(CancellationException.class);
  }

  @Test
  void an_iterator_keeps_its_read_version_but_sees_own_writes_between_chunks() {
    scratch.committed(t -> fill(t, 0, 200, 100));
    Transaction t = scratch.begin();
    AsyncIterator<KeyValue> rows =
        t.getRange(scratch.all(), 0, false, StreamingMode.SMALL).iterator();
    rows.next();
    scratch.committed(other -> other.set(name(199), bytes("other")));
    t.clear(name(150), name(160));
    t.set(name(180), bytes("own"));
    List<KeyValue> rest = new ArrayList<>();
    rows.forEachRemaining(rest::add);
    assertThat(rest).hasSize(189);
    assertThat(rest.get(188).getValue()).hasSize(100);
    assertThat(rest).contains(new KeyValue(name(180), bytes("own")));
  }

  @Test
  void only_what_an_iterator_fetched_conflicts() {
    scratch.committed(t -> fill(t, 0, 400, 100));
    Transaction far = scratch.started();
    far.getRange(scratch.all(), 0, false, StreamingMode.SMALL).iterator().next();
    Transaction near = scratch.started();
    near.getRange(scratch.all(), 0, false, StreamingMode.SMALL).iterator().next();
    scratch.committed(other -> other.set(name(399), EMPTY));
    assertThat(scratch.outcome(far)).isEqualTo(OK);
    scratch.committed(other -> other.set(name(0), EMPTY));
    assertThat(scratch.outcome(near)).isEqualTo(NOT_COMMITTED);
  }

  @Test
  void first_chunks_have_the_sizes_of_their_modes() {
    scratch.committed(t -> fill(t, 0, 2_000, 100));
    // A row counts key + value + 24; two chunks have been fetched after the first row.
    int row = name(0).length + 100 + 24;
    checkFetched(StreamingMode.SMALL, 2 * 256 / row, 2 * (256 / row + 1));
    checkFetched(StreamingMode.MEDIUM, 2 * 1_000 / row, 2 * (1_000 / row + 1));
    checkFetched(StreamingMode.ITERATOR, (4_096 + 6_144) / row, (4_096 + 6_144) / row + 2);
    checkFetched(StreamingMode.LARGE, 2 * 4_096 / row, 2 * (4_096 / row + 1));
  }

  @Test
  void cleared_ranges_are_skipped() {
    scratch.committed(t -> fill(t, 0, 1_000, 10));
    Transaction t = scratch.begin();
    t.clear(name(1), name(999));
    assertThat(valueOf(t.getRange(scratch.all(), 2).asList()))
        .extracting(KeyValue::getKey)
        .containsExactly(name(0), name(999));
    assertThat(valueOf(t.getRange(scratch.all(), 2, true).asList()))
        .extracting(KeyValue::getKey)
        .containsExactly(name(999), name(0));
  }

  @Test
  void own_writes_alone_are_a_range() {
    Transaction t = scratch.begin();
    t.set(scratch.key("b"), bytes("1"));
    t.set(scratch.key("a"), bytes("2"));
    t.mutate(MutationType.APPEND_IF_FITS, scratch.key("b"), bytes("3"));
    List<KeyValue> rows = valueOf(t.getRange(scratch.all()).asList());
    assertThat(scratch.suffixes(rows)).isEqualTo("a b");
    assertThat(rows.get(1).getValue()).isEqualTo(bytes("13"));
  }

  /**
   * Checks that a change of row {@code least - 1} conflicts and one of row {@code most} does not.
   */
  private void checkFetched(StreamingMode mode, int least, int most) {
    Transaction inside = scratch.started();
    inside.getRange(scratch.all(), 0, false, mode).iterator().next();
    Transaction outside = scratch.started();
    outside.getRange(scratch.all(), 0, false, mode).iterator().next();
    scratch.committed(other -> other.set(name(most + 1), value(100)));
    assertThat(scratch.outcome(outside)).as("%s, row %d", mode, most + 1).isEqualTo(OK);
    scratch.committed(other -> other.set(name(least - 1), value(100)));
    assertThat(scratch.outcome(inside)).as("%s, row %d", mode, least - 1).isEqualTo(NOT_COMMITTED);
  }

  private void checkRange(ReadTransaction t, StreamingMode mode, int limit, List<String> expected) {
    int count = limit == 0 ? expected.size() : Math.min(limit, expected.size());
    List<String> first = expected.subList(0, count);
    List<String> last = new ArrayList<>(expected.subList(expected.size() - count, expected.size()));
    Collections.reverse(last);
    assertThat(listed(t, mode, limit, false)).isEqualTo(first);
    assertThat(listed(t, mode, limit, true)).isEqualTo(last);
    assertThat(iterated(t, mode, limit, false)).isEqualTo(first);
    assertThat(iterated(t, mode, limit, true)).isEqualTo(last);
  }

  private List<String> listed(ReadTransaction t, StreamingMode mode, int limit, boolean reverse) {
    return valueOf(t.getRange(scratch.all(), limit, reverse, mode).asList()).stream()
        .map(this::line)
        .toList();
  }

  private List<String> iterated(ReadTransaction t, StreamingMode mode, int limit, boolean reverse) {
    List<String> rows = new ArrayList<>();
    for (KeyValue row : t.getRange(scratch.all(), limit, reverse, mode)) {
      rows.add(line(row));
    }
    return rows;
  }

  private String line(KeyValue row) {
    return scratch.suffix(row.getKey()) + "=" + row.getValue().length;
  }

  private List<String> ownView(int rows) {
    List<String> view = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      switch (i % 4) {
        case 0 -> {}
        case 1 -> view.add("r%04d=3".formatted(i));
        case 2 -> {
          view.add("r%04d=300".formatted(i));
          view.add("r%04d+=3".formatted(i));
        }
        default -> view.add("r%04d=300".formatted(i));
      }
    }
    return view;
  }

  private void fill(Transaction t, int from, int to, int valueLength) {
    for (int i = from; i < to; i++) {
      t.set(name(i), value(valueLength));
    }
  }

  private byte[] name(int i) {
    return scratch.key("r%04d".formatted(i));
  }

  private String rows(AsyncIterable<KeyValue> range) {
    return scratch.suffixes(valueOf(range.asList()));
  }

  @Test
  void the_four_forms_find_their_keys() {
    scratch.set("a", "c", "e");
    Transaction t = scratch.begin();
    assertThat(find(t, KeySelector.lastLessThan(scratch.key("c")))).isEqualTo("a");
    assertThat(find(t, KeySelector.lastLessOrEqual(scratch.key("c")))).isEqualTo("c");
    assertThat(find(t, KeySelector.firstGreaterThan(scratch.key("c")))).isEqualTo("e");
    assertThat(find(t, KeySelector.firstGreaterOrEqual(scratch.key("c")))).isEqualTo("c");
    assertThat(find(t, KeySelector.lastLessThan(scratch.key("d")))).isEqualTo("c");
    assertThat(find(t, KeySelector.lastLessOrEqual(scratch.key("d")))).isEqualTo("c");
    assertThat(find(t, KeySelector.firstGreaterThan(scratch.key("d")))).isEqualTo("e");
    assertThat(find(t, KeySelector.firstGreaterOrEqual(scratch.key("d")))).isEqualTo("e");
    assertThat(find(t, KeySelector.firstGreaterOrEqual(scratch.key("a")).add(2))).isEqualTo("e");
    assertThat(find(t, KeySelector.lastLessOrEqual(scratch.key("e")).add(-1))).isEqualTo("c");
  }

  @Test
  void every_offset_follows_the_formula_over_stored_keys() {
    scratch.set("a", "c", "e");
    Transaction t = scratch.begin();
    checkAllSelectors(t);
    checkAllSelectors(t.snapshot());
  }

  @Test
  void every_offset_follows_the_formula_over_own_writes() {
    scratch.set("a", "c", "e");
    Transaction t = scratch.begin();
    t.set(scratch.key("b"), EMPTY);
    t.clear(scratch.key("c"));
    checkAllSelectors(t);
    checkAllSelectors(t.snapshot());
    t.clear(scratch.key("a"), scratch.key("f"));
    checkAllSelectors(t);
    t.set(scratch.key("d"), EMPTY);
    t.set(scratch.key("dd"), EMPTY);
    checkAllSelectors(t);
  }

  @Test
  void results_are_clamped_to_the_key_space() {
    scratch.set("a");
    Transaction t = scratch.begin();
    int beyond = allKeys(t).size() + 5;
    KeySelector base = KeySelector.firstGreaterOrEqual(scratch.key("a"));
    assertThat(valueOf(t.getKey(base.add(-beyond)))).isEmpty();
    assertThat(valueOf(t.getKey(base.add(beyond)))).isEqualTo(FF);
    assertThat(valueOf(t.getKey(KeySelector.firstGreaterOrEqual(FF)))).isEqualTo(FF);
    assertThat(valueOf(t.getKey(KeySelector.firstGreaterThan(FF)))).isEqualTo(FF);
    assertThat(valueOf(t.getKey(KeySelector.lastLessThan(EMPTY)))).isEmpty();
    t.options().setReadSystemKeys();
    assertThat(valueOf(t.getKey(KeySelector.lastLessThan(EMPTY)))).isEmpty();
    assertThat(valueOf(t.getKey(KeySelector.firstGreaterOrEqual(bytes("\u00ff\u00ff")))))
        .isEqualTo(bytes("\u00ff\u00ff"));
  }

  @Test
  void ranges_resolve_both_ends_over_own_writes() {
    scratch.set("a", "c", "e", "g");
    Transaction t = scratch.begin();
    t.set(scratch.key("b"), EMPTY);
    t.clear(scratch.key("e"));
    for (ReadTransaction reader : List.of(t, t.snapshot())) {
      List<byte[]> keys = allKeys(reader);
      for (KeySelector begin : selectors(-2, 2)) {
        for (KeySelector end : selectors(-2, 2)) {
          List<byte[]> rows = keysOf(reader, begin, end, false);
          List<byte[]> expected = between(keys, resolve(keys, begin), resolve(keys, end));
          assertThat(rows).as("%s to %s", begin, end).containsExactlyElementsOf(expected);
        }
      }
    }
  }

  @Test
  void reverse_ranges_resolve_both_ends_the_same_way() {
    scratch.set("a", "c", "e", "g");
    Transaction t = scratch.begin();
    t.set(scratch.key("d"), EMPTY);
    t.clear(scratch.key("c"));
    List<byte[]> keys = allKeys(t);
    for (KeySelector begin : selectors(-1, 2)) {
      for (KeySelector end : selectors(-1, 2)) {
        List<byte[]> expected = between(keys, resolve(keys, begin), resolve(keys, end));
        List<byte[]> reversed = new ArrayList<>(expected);
        Collections.reverse(reversed);
        assertThat(keysOf(t, begin, end, true))
            .as("%s to %s", begin, end)
            .containsExactlyElementsOf(reversed);
      }
    }
  }

  @Test
  void an_atomic_on_a_missing_key_makes_it_visible_to_selectors() {
    scratch.set("a", "e");
    Transaction t = scratch.begin();
    t.mutate(MutationType.ADD, scratch.key("c"), new byte[] {1});
    t.mutate(MutationType.COMPARE_AND_CLEAR, scratch.key("e"), bytes("e"));
    assertThat(find(t, KeySelector.firstGreaterThan(scratch.key("a")))).isEqualTo("c");
    assertThat(scratch.suffixes(valueOf(t.getRange(scratch.all()).asList()))).isEqualTo("a c");
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.suffixes(valueOf(scratch.begin().getRange(scratch.all()).asList())))
        .isEqualTo("a c");
  }

  private void checkAllSelectors(ReadTransaction t) {
    List<byte[]> keys = allKeys(t);
    for (KeySelector selector : selectors(-5, 5)) {
      assertThat(valueOf(t.getKey(selector))).as("%s", selector).isEqualTo(resolve(keys, selector));
    }
  }

  /** Returns every form on keys that exist and keys that do not, with offsets added. */
  private List<KeySelector> selectors(int leastOffset, int mostOffset) {
    List<KeySelector> selectors = new ArrayList<>();
    for (String base : List.of("a", "b", "c", "d", "f")) {
      for (int offset = leastOffset; offset <= mostOffset; offset++) {
        selectors.add(new KeySelector(scratch.key(base), false, offset));
        selectors.add(new KeySelector(scratch.key(base), true, offset));
      }
    }
    return selectors;
  }

  private static List<byte[]> allKeys(ReadTransaction t) {
    return valueOf(t.snapshot().getRange(EMPTY, FF).asList()).stream()
        .map(KeyValue::getKey)
        .toList();
  }

  private static List<byte[]> keysOf(
      ReadTransaction t, KeySelector begin, KeySelector end, boolean reverse) {
    return valueOf(t.getRange(begin, end, 0, reverse).asList()).stream()
        .map(KeyValue::getKey)
        .toList();
  }

  /** Applies the contract's formula. */
  private static byte[] resolve(List<byte[]> keys, KeySelector selector) {
    int first = 0;
    while (first < keys.size() && isBefore(keys.get(first), selector)) {
      first++;
    }
    int index = first + selector.getOffset() - 1;
    if (index < 0) {
      return EMPTY;
    }
    return index < keys.size() ? keys.get(index) : FF;
  }

  private static boolean isBefore(byte[] key, KeySelector selector) {
    int order = ByteArrayUtil.compareUnsigned(key, selector.getKey());
    return selector.orEqual() ? order <= 0 : order < 0;
  }

  private static List<byte[]> between(List<byte[]> keys, byte[] begin, byte[] end) {
    return keys.stream()
        .filter(key -> ByteArrayUtil.compareUnsigned(key, begin) >= 0)
        .filter(key -> ByteArrayUtil.compareUnsigned(key, end) < 0)
        .toList();
  }

  private String find(ReadTransaction t, KeySelector selector) {
    return scratch.suffix(valueOf(t.getKey(selector)));
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
