package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.FF;
import static lectus.store.contract.Scratch.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeySelector;
import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Key selectors, checked against their formula over all visible keys of the store
 * (docs/foundationdb-contract.md, section 4).
 */
class SelectorsContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final Scratch scratch = new Scratch(stores.fresh());

  @AfterEach
  void close() {
    scratch.close();
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
}
