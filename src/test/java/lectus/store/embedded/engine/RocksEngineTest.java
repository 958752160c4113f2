package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static lectus.store.embedded.engine.Commits.rows;
import static lectus.store.embedded.engine.Commits.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.apple.foundationdb.MutationType;
import com.apple.foundationdb.tuple.Tuple;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import lectus.error.NotInMemoryException;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RocksEngineTest {
  @TempDir Path folder;

  @AutoClose private RocksEngine engine;
  private static final String KEY = "counter";

  @BeforeEach
  void open() {
    engine = RocksEngine.open(folder, EngineOptions.defaults());
  }

  @Test
  void commit_is_readable_once_its_future_is_complete() {
    CommitReceipt receipt = commit().set("k", "v").on(engine);

    assertThat(get(engine, "k")).isEqualTo("v");
    assertThat(receipt.version()).isLessThanOrEqualTo(engine.readVersion());
  }

  @Test
  void snapshot_does_not_move() {
    commit().set("k", "1").on(engine);
    try (StoreSnapshot before = engine.latest()) {
      commit().set("k", "2").set("l", "2").on(engine);

      assertThat(text(before.get(bytes("k")))).isEqualTo("1");
      assertThat(rows(before, "", "z")).containsExactly("k=1");
    }
    assertThat(rows(engine, "", "z")).containsExactly("k=2", "l=2");
  }

  @Test
  void reader_of_a_changed_key_loses() {
    try (StoreSnapshot before = engine.latest()) {
      commit().set("k", "1").on(engine);

      assertThat(commit().at(before.version()).read("k").set("x", "").codeOn(engine))
          .isEqualTo(1020);
      assertThat(commit().at(before.version()).read("l").set("x", "").codeOn(engine)).isZero();
    }
  }

  @Test
  void reverse_scan_walks_from_the_end() {
    commit().set("a", "1").set("b", "2").set("c", "3").on(engine);
    List<String> keys = new ArrayList<>();
    try (StoreSnapshot snapshot = engine.latest();
        Cursor cursor = snapshot.scan(bytes("a"), bytes("c"), true)) {
      while (cursor.next()) {
        keys.add(text(cursor.key()));
      }
    }
    assertThat(keys).containsExactly("b", "a");
  }

  @Test
  void commits_of_one_group_share_a_version() {
    List<CompletableFuture<CommitReceipt>> futures = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      byte[] template = new byte[15];
      template[0] = 'p';
      template[11] = 1;
      futures.add(
          engine.commit(
              commit()
                  .atomic(MutationType.SET_VERSIONSTAMPED_KEY, template, bytes("" + i))
                  .request()));
    }
    List<CommitReceipt> receipts = futures.stream().map(CompletableFuture::join).toList();

    assertThat(receipts).doesNotHaveDuplicates();
    assertThat(receipts.stream().map(CommitReceipt::version).distinct().count()).isLessThan(500);
    assertThat(rows(engine, "p", "q").stream().map(row -> row.substring(12)).toList())
        .containsExactlyElementsOf(
            java.util.stream.IntStream.range(0, 500).mapToObj(Integer::toString).toList());
  }

  @Test
  void what_was_just_written_is_in_memory() {
    commit().set("k", "1").on(engine);
    try (StoreSnapshot then = engine.latest()) {
      commit().set("k", "2").on(engine);
      assertThat(text(then.getFromMemory(bytes("k")))).isEqualTo("1");
      try (StoreSnapshot now = engine.latest()) {
        assertThat(text(now.getFromMemory(bytes("k")))).isEqualTo("2");
      }
    }
  }

  /** After a restart, only what opening needs has been read of the files. */
  @Test
  void what_is_on_disk_is_not_in_memory_until_somebody_has_read_it() {
    Commits many = commit();
    for (int i = 0; i < 1_000; i++) {
      many.set("k" + i, "v".repeat(1_000));
    }
    many.on(engine);
    engine.close();
    open();
    try (StoreSnapshot snapshot = engine.latest()) {
      assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k500")))
          .isInstanceOf(NotInMemoryException.class);
      assertThat(snapshot.get(bytes("k500"))).hasSize(1_000);
      assertThat(snapshot.getFromMemory(bytes("k500"))).hasSize(1_000);
    }
  }

  @Test
  void a_closed_snapshot_has_nothing_in_memory_either() {
    StoreSnapshot snapshot = engine.latest();
    snapshot.close();
    assertThatThrownBy(() -> snapshot.getFromMemory(bytes("k"))).hasMessageContaining("cancelled");
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
