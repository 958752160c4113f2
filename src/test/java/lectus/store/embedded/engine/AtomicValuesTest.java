package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.tuple.Tuple;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an atomic operation finds after the previous one and after other writes in between. */
class AtomicValuesTest {
  private static final String KEY = "counter";

  @TempDir Path folder;

  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    engine = RocksEngine.open(folder, EngineOptions.defaults());
  }

  @Test
  void goes_on_from_the_last_one() {
    add(1);
    add(2);
    assertThat(counter()).isEqualTo(3);
  }

  @Test
  void goes_on_from_the_last_one_before_a_restart() {
    add(1);
    engine.close();
    open();
    add(2);
    assertThat(counter()).isEqualTo(3);
  }

  @Test
  void finds_what_was_set_in_between() {
    add(1);
    commit().set(bytes(KEY), new byte[] {40}).on(engine);
    add(2);
    assertThat(counter()).isEqualTo(42);
  }

  @Test
  void finds_nothing_after_a_clear() {
    add(1);
    commit().clear(KEY, KEY + "\0").on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_nothing_after_the_clear_of_a_large_range() {
    Commits many = commit();
    for (int i = 0; i <= StoreReader.FEW_KEYS; i++) {
      many.set(KEY + "/" + i, "");
    }
    many.on(engine);
    add(1);
    commit().clear("a", "z").on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_nothing_after_a_comparison_that_cleared() {
    add(1);
    commit().atomic(MutationType.COMPARE_AND_CLEAR, bytes(KEY), new byte[] {1}).on(engine);
    add(2);
    assertThat(counter()).isEqualTo(2);
  }

  @Test
  void finds_values_too_long_to_be_remembered() {
    for (int length = 100; length <= 400; length += 100) {
      commit().atomic(MutationType.APPEND_IF_FITS, bytes(KEY), new byte[100]).on(engine);
      assertThat(value()).hasSize(length);
    }
  }

  @Test
  void counts_on_more_counters_than_are_remembered() {
    int counters = 2 * AtomicValues.SETS * AtomicValues.KEYS_OF_A_SET;
    for (int round = 0; round < 2; round++) {
      for (int from = 0; from < counters; from += 1_000) {
        Commits some = commit();
        for (int i = from; i < Math.min(from + 1_000, counters); i++) {
          some.atomic(MutationType.ADD, bytes(KEY + i), new byte[] {1});
        }
        some.on(engine);
      }
    }
    try (StoreSnapshot latest = engine.latest()) {
      for (int i = 0; i < counters; i++) {
        assertThat(latest.get(bytes(KEY + i))).containsExactly(2);
      }
    }
  }

  @Test
  void remembers_the_counters_of_hundreds_of_databases() {
    AtomicValues values = new AtomicValues();
    List<byte[]> counters = new ArrayList<>();
    for (int database = 0; database < 256; database++) {
      for (int counter = 0; counter < 4; counter++) {
        for (int slot = 0; slot < 16; slot++) {
          counters.add(Tuple.from(1_000 + database, 1, counter, slot).pack());
        }
      }
    }
    counters.forEach(key -> values.remember(key, new byte[8]));
    assertThat(counters.stream().filter(values::mayRemember).count())
        .isGreaterThan(counters.size() * 95L / 100);
  }

  @Test
  void keeps_those_of_a_set_that_were_changed_last() {
    AtomicValues values = new AtomicValues();
    List<byte[]> keys = keysOfOneSet(AtomicValues.KEYS_OF_A_SET + 1);
    List<byte[]> fitting = keys.subList(0, AtomicValues.KEYS_OF_A_SET);
    fitting.forEach(key -> values.remember(key, bytes("first")));
    assertThat(fitting).allSatisfy(key -> assertThat(values.find(key)).isNotNull());

    values.remember(keys.get(0), bytes("second"));
    values.remember(keys.get(keys.size() - 1), bytes("first"));

    assertThat(values.find(keys.get(0))).isEqualTo(bytes("second"));
    assertThat(values.find(keys.get(1))).isNull();
    assertThat(keys.subList(2, keys.size()))
        .allSatisfy(key -> assertThat(values.find(key)).isEqualTo(bytes("first")));
  }

  @Test
  void forgets_one_key_of_a_set_and_no_other() {
    AtomicValues values = new AtomicValues();
    List<byte[]> keys = keysOfOneSet(AtomicValues.KEYS_OF_A_SET);
    keys.forEach(key -> values.remember(key, key));

    values.forget(keys.get(1));

    assertThat(values.find(keys.get(1))).isNull();
    for (int i = 0; i < keys.size(); i++) {
      if (i != 1) {
        assertThat(values.find(keys.get(i))).isEqualTo(keys.get(i));
      }
    }
    values.forgetAll();
    assertThat(keys).allSatisfy(key -> assertThat(values.mayRemember(key)).isFalse());
  }

  private static List<byte[]> keysOfOneSet(int number) {
    return Stream.iterate(0, i -> i + 1)
        .map(i -> bytes(KEY + i))
        .filter(key -> PointCache.hash(key, key.length) % AtomicValues.SETS == 0)
        .limit(number)
        .toList();
  }

  private void add(int number) {
    commit().atomic(MutationType.ADD, bytes(KEY), new byte[] {(byte) number}).on(engine);
  }

  private int counter() {
    assertThat(value()).hasSize(1);
    return value()[0];
  }

  private byte[] value() {
    try (StoreSnapshot latest = engine.latest()) {
      return latest.get(bytes(KEY));
    }
  }

  @ParameterizedTest(name = "{0} of {1} with {2} is {3}")
  @CsvSource({
    "ADD, -, 0102, 0102",
    "ADD, '', 0102, 0102",
    "ADD, ff, 0101, 0002",
    "ADD, ffff, 0100, 0000",
    "ADD, 010203, 0101, 0203",
    "ADD, 0102, '', ''",
    "BIT_AND, -, 0f0f, 0f0f",
    "BIT_AND, '', 0f0f, 0000",
    "BIT_AND, ff, 0f0f, 0f00",
    "BIT_AND, 3c3c, 0f0f, 0c0c",
    "BIT_AND, ffffff, 0f0f, 0f0f",
    "BIT_AND, ff, '', ''",
    "BIT_OR, -, 0f0f, 0f0f",
    "BIT_OR, '', 0f0f, 0f0f",
    "BIT_OR, f0, 0f0f, ff0f",
    "BIT_OR, 3030, 0f0f, 3f3f",
    "BIT_OR, 303030, 0f0f, 3f3f",
    "BIT_OR, 30, '', ''",
    "BIT_XOR, -, 0f0f, 0f0f",
    "BIT_XOR, '', 0f0f, 0f0f",
    "BIT_XOR, ff, 0f0f, f00f",
    "BIT_XOR, ffff, 0f0f, f0f0",
    "BIT_XOR, ffffff, 0f0f, f0f0",
    "BIT_XOR, ff, '', ''",
    "MAX, -, 0102, 0102",
    "MAX, '', 0102, 0102",
    "MAX, ff, 0001, 0001",
    "MAX, ff, 0100, ff00",
    "MAX, 0002, ff01, 0002",
    "MAX, 0001ff, 0100, 0001",
    "MAX, 000001, 0100, 0100",
    "MAX, ff, '', ''",
    "MIN, -, 0102, 0102",
    "MIN, '', 0102, 0000",
    "MIN, ff, 0001, ff00",
    "MIN, 0002, ff01, ff01",
    "MIN, 000001, 0100, 0000",
    "MIN, ff, '', ''",
    "BYTE_MIN, -, 0102, 0102",
    "BYTE_MIN, '', 0102, ''",
    "BYTE_MIN, 01, 0102, 01",
    "BYTE_MIN, 0103, 0102, 0102",
    "BYTE_MIN, 80, 7f, 7f",
    "BYTE_MIN, 80, '', ''",
    "BYTE_MAX, -, 0102, 0102",
    "BYTE_MAX, '', 0102, 0102",
    "BYTE_MAX, 01, 0102, 0102",
    "BYTE_MAX, 010203, 0102, 010203",
    "BYTE_MAX, 80, 7f, 80",
    "BYTE_MAX, 80, '', 80",
    "APPEND_IF_FITS, -, 0102, 0102",
    "APPEND_IF_FITS, '', 0102, 0102",
    "APPEND_IF_FITS, 00, 0102, 000102",
    "APPEND_IF_FITS, 00, '', 00",
    "COMPARE_AND_CLEAR, -, 0102, -",
    "COMPARE_AND_CLEAR, '', 0102, ''",
    "COMPARE_AND_CLEAR, '', '', -",
    "COMPARE_AND_CLEAR, 0102, 0102, -",
    "COMPARE_AND_CLEAR, 010203, 0102, 010203",
    "COMPARE_AND_CLEAR, 01, '', 01",
  })
  void follows_the_table(MutationType type, String existing, String operand, String expected) {
    assertThat(AtomicOperations.apply(type, parse(existing), parse(operand)))
        .isEqualTo(parse(expected));
  }

  @Test
  @SuppressWarnings("deprecation") // the older names have to do the same
  void older_names_are_the_same_operations() {
    byte[] three = {3};
    byte[] five = {5};

    assertThat(AtomicOperations.apply(MutationType.AND, three, five)).containsExactly(1);
    assertThat(AtomicOperations.apply(MutationType.OR, three, five)).containsExactly(7);
    assertThat(AtomicOperations.apply(MutationType.XOR, three, five)).containsExactly(6);
  }

  @Test
  void append_fits_up_to_the_largest_value() {
    byte[] almostFull = new byte[AtomicOperations.MAX_VALUE_BYTES - 1];

    assertThat(AtomicOperations.apply(MutationType.APPEND_IF_FITS, almostFull, new byte[1]))
        .hasSize(AtomicOperations.MAX_VALUE_BYTES);
    assertThat(AtomicOperations.apply(MutationType.APPEND_IF_FITS, almostFull, new byte[2]))
        .isSameAs(almostFull);
  }

  private static byte[] parse(String hex) {
    return hex.equals("-") ? null : HexFormat.of().parseHex(hex);
  }
}
