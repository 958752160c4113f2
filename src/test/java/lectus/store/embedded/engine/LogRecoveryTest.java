package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.folder.LogFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recovery tolerates a torn last record and nothing else. */
class LogRecoveryTest {
  /** Larger than a block of the log, so that some records span blocks. */
  private static final int VALUE_BYTES = 20_000;

  private static final int COMMITS = 6;

  private static final String RECORD = "lectus.logs";

  @TempDir Path temporary;
  private Path copy;
  private Path log;
  private String recorded;

  /** The synced length after each commit. The first is the empty store's. */
  private final List<Long> lengths = new ArrayList<>();

  @Test
  void log_cut_anywhere_in_the_last_record_loses_that_record_alone() {
    writeStore();
    long begin = lengths.get(COMMITS - 1);
    long end = lengths.get(COMMITS);
    for (long cut : new long[] {begin, begin + 1, begin + 8, (begin + end) / 2, end - 1}) {
      Folders.truncate(freshLog(), cut);
      assertThat(commitsFound()).as("cut at %d of %d", cut, end).isEqualTo(COMMITS - 1);
    }
    freshLog();
    assertThat(commitsFound()).isEqualTo(COMMITS);
  }

  @Test
  void last_record_that_arrived_only_in_part_is_dropped() {
    writeStore();
    long begin = lengths.get(COMMITS - 1);
    long end = lengths.get(COMMITS);

    Folders.zero(freshLog(), begin, (int) (end - begin));
    assertThat(commitsFound()).isEqualTo(COMMITS - 1);

    Folders.zero(freshLog(), begin, 100);
    assertThat(commitsFound()).isEqualTo(COMMITS - 1);

    Folders.flipBit(freshLog(), end - 10);
    assertThat(commitsFound()).isEqualTo(COMMITS - 1);

    Folders.append(freshLog(), new byte[50_000]);
    assertThat(commitsFound()).isEqualTo(COMMITS);
  }

  @Test
  void torn_record_whose_value_looks_like_a_record_is_dropped() {
    String value = looksLikeARecord() + "v".repeat(VALUE_BYTES);
    writeStore(value);
    Folders.truncate(freshLog(), lengths.get(COMMITS) - 1);
    assertThat(commitsFound()).isEqualTo(COMMITS - 1);
  }

  @Test
  void store_goes_on_after_a_torn_record() {
    writeStore();
    Folders.truncate(freshLog(), lengths.get(COMMITS) - 1);
    try (RocksEngine engine = RocksEngine.open(copy, EngineOptions.defaults())) {
      commit().set("after", "").on(engine);
    }
    try (RocksEngine engine = RocksEngine.open(copy, EngineOptions.defaults())) {
      assertThat(Commits.get(engine, "after")).isEmpty();
    }
  }

  @Test
  void damage_before_the_last_record_is_refused() {
    writeStore();
    long third = lengths.get(2);
    long fourth = lengths.get(3);

    Folders.flipBit(freshLog(), third + 100);
    assertRefused();
    // A damaged length field.
    Folders.flipBit(freshLog(), third + 5);
    assertRefused();
    Folders.zero(freshLog(), third, (int) (fourth - third));
    assertRefused();
    Folders.zero(freshLog(), 0, 100);
    assertRefused();
  }

  @Test
  void shortened_older_log_is_refused() {
    writeStore();
    Path older = freshLog();
    Folders.truncate(older, lengths.get(COMMITS) - 1);
    Folders.append(older.resolveSibling("999999.log"), new byte[0]);

    assertRefused();
  }

  @Test
  void file_that_cannot_be_a_log_is_none_or_is_refused_with_a_sentence() throws IOException {
    writeStore();
    Path log = freshLog();
    Folders.append(log.resolveSibling("9".repeat(23) + ".log"), new byte[0]);
    assertThat(commitsFound()).isEqualTo(COMMITS);

    try (RandomAccessFile sparse = new RandomAccessFile(log.toFile(), "rw")) {
      sparse.setLength(3L << 30);
    }
    assertThatThrownBy(() -> RocksEngine.open(copy, EngineOptions.defaults()))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("is longer than any log becomes");
  }

  /** Returns one fragment of the log that is a whole record, as {@link LogFile} describes it. */
  private static String looksLikeARecord() {
    byte[] typeAndData = new byte[1 + 40];
    typeAndData[0] = 1;
    CRC32C crc = new CRC32C();
    crc.update(typeAndData);
    int masked = Integer.rotateRight((int) crc.getValue(), 15) + 0xA282EAD8;
    ByteBuffer record = ByteBuffer.allocate(6 + typeAndData.length).order(ByteOrder.LITTLE_ENDIAN);
    record.putInt(masked).putShort((short) (typeAndData.length - 1)).put(typeAndData);
    return new String(record.array(), StandardCharsets.ISO_8859_1);
  }

  private void writeStore() {
    writeStore("v".repeat(VALUE_BYTES));
  }

  private void writeStore(String value) {
    Path folder = temporary.resolve("original");
    EngineOptions options = EngineOptions.defaults().with(TestOptions.trackedLog(Durability.SYNC));
    try (RocksEngine engine = RocksEngine.open(folder, options)) {
      lengths.add(engine.run.log().newest().length());
      recorded = Folders.read(folder.resolve(RECORD));
      for (int i = 0; i < COMMITS; i++) {
        commit().set("k" + i, value).set("l" + i, "").on(engine);
        lengths.add(engine.run.log().newest().length());
      }
      copy = temporary.resolve("copy");
      log = copy.resolve(folder.relativize(engine.run.log().newest().file()));
      assertThat(Folders.length(engine.run.log().newest().file())).isEqualTo(lengths.get(COMMITS));
    }
    // As after a crash before the commits were recorded, and without the record of an orderly stop.
    Folders.truncate(folder.resolve(copy.relativize(log)), lengths.get(COMMITS));
    Folders.write(folder.resolve(RECORD), recorded);
  }

  private Path freshLog() {
    Folders.delete(copy);
    Folders.copy(temporary.resolve("original"), copy);
    return log;
  }

  private int commitsFound() {
    try (RocksEngine engine = RocksEngine.open(copy, EngineOptions.defaults())) {
      int found = 0;
      while (Commits.get(engine, "k" + found) != null) {
        assertThat(Commits.get(engine, "l" + found)).isEmpty();
        found++;
      }
      assertThat(Commits.rows(engine, "", "z")).hasSize(2 * found);
      return found;
    }
  }

  private void assertRefused() {
    Map<String, Integer> before = Folders.fingerprint(copy);
    assertThatThrownBy(() -> RocksEngine.open(copy, EngineOptions.defaults()))
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining("is damaged and was not opened: the write-ahead log");
    assertThat(Folders.fingerprint(copy)).isEqualTo(before);
  }
}
