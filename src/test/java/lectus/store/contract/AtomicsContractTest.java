package lectus.store.contract;

import static lectus.store.contract.ErrorCodes.OK;
import static lectus.store.contract.Outcomes.codeOf;
import static lectus.store.contract.Outcomes.valueOf;
import static lectus.store.contract.Scratch.EMPTY;
import static lectus.store.contract.Scratch.bytes;
import static lectus.store.contract.Scratch.value;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.store.contract.model.Atomics;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The table of atomic operations, stored and over own writes (docs/foundationdb-contract.md,
 * section 6).
 */
class AtomicsContractTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final byte[] OPERAND = {3, (byte) 0x80, 5};
  private static final byte[] MISSING = null;

  @AutoClose private final Scratch scratch = new Scratch(stores.fresh());
  private final byte[] key = scratch.key("k");

  @ParameterizedTest
  @EnumSource(
      value = MutationType.class,
      names = {"SET_VERSIONSTAMPED_KEY", "SET_VERSIONSTAMPED_VALUE"},
      mode = EnumSource.Mode.EXCLUDE)
  void every_operation_on_every_kind_of_value(MutationType type) {
    for (byte[] operand : List.of(OPERAND, EMPTY, new byte[] {0, 0, 0, 0})) {
      for (byte[] old : values(operand)) {
        byte[] expected = Atomics.apply(type, old, operand);
        String what = type + " of " + printable(operand) + " on " + printable(old);
        assertThat(stored(type, old, operand)).as("%s, stored", what).isEqualTo(expected);
        assertThat(overUnknown(type, old, operand)).as("%s, unknown", what).isEqualTo(expected);
        assertThat(overOwnWrite(type, old, operand)).as("%s, own", what).isEqualTo(expected);
      }
    }
  }

  @Test
  void operations_of_one_transaction_build_on_each_other() {
    scratch.committed(t -> t.set(key, new byte[] {1, 1}));
    Transaction t = scratch.begin();
    t.mutate(MutationType.ADD, key, new byte[] {1, 0});
    t.mutate(MutationType.BIT_OR, key, new byte[] {0, 4});
    t.mutate(MutationType.APPEND_IF_FITS, key, new byte[] {9});
    t.mutate(MutationType.BYTE_MAX, key, new byte[] {0});
    byte[] expected = {2, 5, 9};
    assertThat(valueOf(t.get(key))).isEqualTo(expected);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).isEqualTo(expected);
  }

  @Test
  void a_clear_between_two_operations_starts_anew() {
    scratch.committed(t -> t.set(key, new byte[] {7}));
    Transaction t = scratch.begin();
    t.mutate(MutationType.ADD, key, new byte[] {1});
    t.clear(key);
    t.mutate(MutationType.ADD, key, new byte[] {5});
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).containsExactly(5);
  }

  @Test
  void operations_apply_to_what_others_committed_meanwhile() {
    scratch.committed(t -> t.set(key, new byte[] {1}));
    Transaction t = scratch.started();
    t.mutate(MutationType.ADD, key, new byte[] {1});
    scratch.committed(other -> other.set(key, new byte[] {100}));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).containsExactly(101);
  }

  @Test
  void and_and_min_of_a_present_empty_value_give_zeros() {
    for (MutationType type : List.of(MutationType.BIT_AND, MutationType.MIN)) {
      assertThat(stored(type, EMPTY, OPERAND)).containsExactly(0, 0, 0);
      assertThat(stored(type, MISSING, OPERAND)).isEqualTo(OPERAND);
    }
  }

  @Test
  void max_ignores_and_cuts_higher_bytes() {
    assertThat(stored(MutationType.MAX, new byte[] {1, 1}, new byte[] {5})).containsExactly(5);
    assertThat(stored(MutationType.MAX, new byte[] {9, 1}, new byte[] {5})).containsExactly(9);
  }

  @Test
  void add_drops_the_carry() {
    byte[] all = {(byte) 0xff, (byte) 0xff};
    assertThat(stored(MutationType.ADD, all, new byte[] {1, 0})).containsExactly(0, 0);
    assertThat(stored(MutationType.ADD, all, new byte[] {1})).containsExactly(0);
  }

  @Test
  void append_stops_at_100000_bytes() {
    assertThat(stored(MutationType.APPEND_IF_FITS, value(99_999), bytes("1"))).hasSize(100_000);
    assertThat(stored(MutationType.APPEND_IF_FITS, value(99_999), bytes("12"))).hasSize(99_999);
    assertThat(overUnknown(MutationType.APPEND_IF_FITS, value(99_999), bytes("12")))
        .hasSize(99_999);
    assertThat(overOwnWrite(MutationType.APPEND_IF_FITS, value(99_999), bytes("12")))
        .hasSize(99_999);
  }

  @Test
  void compare_and_clear_clears_only_what_is_equal() {
    assertThat(stored(MutationType.COMPARE_AND_CLEAR, bytes("x"), bytes("x"))).isNull();
    assertThat(stored(MutationType.COMPARE_AND_CLEAR, bytes("x"), bytes("y")))
        .isEqualTo(bytes("x"));
    assertThat(stored(MutationType.COMPARE_AND_CLEAR, EMPTY, EMPTY)).isNull();
    assertThat(stored(MutationType.COMPARE_AND_CLEAR, MISSING, EMPTY)).isNull();
  }

  @Test
  void deep_stacks_of_operations_resolve() {
    int count = 500;
    Transaction t = scratch.begin();
    for (int i = 0; i < count; i++) {
      t.mutate(MutationType.ADD, key, new byte[] {1, 0, 0, 0});
    }
    assertThat(valueOf(t.get(key))).containsExactly(count & 0xff, count >> 8, 0, 0);
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).containsExactly(count & 0xff, count >> 8, 0, 0);
  }

  private static List<byte[]> values(byte[] operand) {
    List<byte[]> values = new ArrayList<>();
    values.add(MISSING);
    values.add(EMPTY);
    values.add(new byte[] {4});
    values.add(new byte[] {4, (byte) 0xff});
    values.add(new byte[] {2, 2, (byte) 0xfe});
    values.add(operand.clone());
    values.add(Arrays.copyOf(operand, operand.length + 2));
    values.add(new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 1});
    return values;
  }

  private byte[] stored(MutationType type, byte[] old, byte[] operand) {
    put(old);
    scratch.committed(t -> t.mutate(type, key, operand));
    return scratch.stored(key);
  }

  private byte[] overUnknown(MutationType type, byte[] old, byte[] operand) {
    put(old);
    Transaction t = scratch.begin();
    t.mutate(type, key, operand);
    byte[] snapshot = valueOf(t.snapshot().get(key));
    assertThat(valueOf(t.get(key))).isEqualTo(snapshot);
    assertThat(valueOf(t.getRange(scratch.all()).asList())).hasSize(snapshot == null ? 0 : 1);
    return snapshot;
  }

  private byte[] overOwnWrite(MutationType type, byte[] old, byte[] operand) {
    put(bytes("something else"));
    Transaction t = scratch.begin();
    t.clear(key);
    if (old != null) {
      t.set(key, old);
    }
    t.mutate(type, key, operand);
    byte[] own = valueOf(t.get(key));
    assertThat(codeOf(t.commit())).isEqualTo(OK);
    assertThat(scratch.stored(key)).isEqualTo(own);
    return own;
  }

  private void put(byte[] old) {
    scratch.committed(
        t -> {
          t.clear(key);
          if (old != null) {
            t.set(key, old);
          }
        });
  }

  private static String printable(byte[] bytes) {
    return bytes == null ? "nothing" : "'" + ByteArrayUtil.printable(bytes) + "'";
  }
}
