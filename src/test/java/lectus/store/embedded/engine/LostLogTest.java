package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.apple.foundationdb.FDBException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import lectus.error.StoreOpenException;
import lectus.store.embedded.engine.EngineOptions.Durability;
import lectus.store.embedded.engine.folder.LogFile;
import lectus.store.embedded.engine.folder.LogRecord.LogRecordFile;
import lectus.store.embedded.engine.folder.LogTracker;
import lectus.store.embedded.engine.folder.LogTracker.LogNames;
import lectus.store.embedded.engine.folder.LogTracker.LogRecorder;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteOptions;

/** A store with a missing or shortened log is refused; one that lost nothing is not. */
class LostLogTest {
  private static final Path SHELL = Path.of("/bin/sh");

  /** 50 or 100 MB, as shells count in blocks of 512 or 1 024 bytes. The native library fits. */
  private static final int MAX_FILE_BLOCKS = 100_000;

  /** Commits after the store is available again. */
  private static final int AFTERWARDS = 3;

  private static final int KEY_BYTES = 8;

  private static final int VALUE_BYTES = 5_000_000;

  private static final long NO_FLUSH_BYTES = 1 << 30;

  @TempDir Path temporary;

  private Path folder;

  /** The log's length when the store is open and has no commits. */
  private long emptyLength;

  @BeforeEach
  void nameFolder() {
    folder = temporary.resolve("store");
  }

  @Test
  void deleted_log_is_refused() throws IOException {
    Path log = writeStore();
    long length = Folders.length(log);
    Files.delete(log);

    assertRefused("is missing, of which " + length + " bytes had been synced");
  }

  @Test
  void emptied_log_is_refused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.truncate(log, 0);

    assertRefused(log.getFileName() + " ends after 0 of the " + length + " bytes");
  }

  @Test
  void log_that_ends_with_an_earlier_record_is_refused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.truncate(log, emptyLength);

    assertRefused("ends after " + emptyLength + " of the " + length + " bytes");
  }

  @Test
  void flipped_byte_in_the_last_record_is_refused() {
    Path log = writeStore();
    Folders.flipBit(log, Folders.length(log) - 1);

    assertRefused("bytes that had been synced");
  }

  @Test
  void flipped_byte_in_an_earlier_record_is_refused() {
    Path log = writeStore();
    Folders.flipBit(log, 20);

    assertRefused("is broken at byte 0");
  }

  @Test
  void what_lies_behind_the_recorded_length_may_be_torn() {
    Path log = writeStore();
    Folders.append(log, new byte[] {1, 2, 3, 4, 5});

    assertOpens();
  }

  /** RocksDB recycles no logs here and would loop endlessly on this record. */
  @Test
  void record_of_a_recycled_log_is_refused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.append(log, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9});

    assertRefused("is broken at byte " + length);
  }

  /** As after a power loss between a switch to a new log and its first synced write. */
  @Test
  void empty_newer_log_may_be_there_or_not() throws IOException {
    Path log = writeStore();
    Path newer = log.resolveSibling(LogNames.name(number(log) + 50));
    Files.createFile(newer);

    assertOpens();
  }

  @Test
  void two_needed_logs_are_read() throws Exception {
    twoNeededLogs();

    try (RocksEngine engine = open()) {
      assertThat(Commits.rows(engine, "a", "d")).hasSize(3);
    }
    assertOpens();
  }

  @Test
  void deleted_older_log_is_refused() throws Exception {
    SortedMap<Long, Path> logs = twoNeededLogs();

    Path older = logs.get(logs.firstKey());
    Folders.delete(older);
    assertRefused(older.getFileName() + " is missing");
  }

  @Test
  void older_log_that_ends_with_an_earlier_record_is_refused() throws Exception {
    SortedMap<Long, Path> logs = twoNeededLogs();

    Path older = logs.get(logs.firstKey());
    Folders.truncate(older, emptyLength);
    assertRefused(older.getFileName() + " ends after " + emptyLength + " of the ");
  }

  /** As after a crash between RocksDB's last use of a log and the next record. */
  @Test
  void log_that_is_written_out_may_be_gone() throws Exception {
    Path log = writeStore();
    withRocks(false, db -> {});
    assertThat(log).doesNotExist();
    assertThat(recorded()).containsKey(number(log));

    assertOpens();
  }

  @Test
  void store_from_before_records_opens() throws Exception {
    writeStore();
    Files.delete(record());

    assertOpens();
    assertThat(record()).exists();
  }

  @Test
  void record_that_is_none_is_refused() throws Exception {
    writeStore();
    Files.writeString(record(), "lectus synced logs\nceiling x\n");

    assertRefused("lectus.logs is not readable; once it is deleted the store opens");

    String many = "log 1 1\n".repeat(10_000);
    Files.writeString(record(), "lectus synced logs\nceiling 1\n" + many + "lo");
    assertRefused("lectus.logs is not readable; once it is deleted the store opens");
  }

  /** Follows the advice in the refusal. */
  @Test
  void what_is_left_opens_without_the_lines_of_logs_and_versions_go_on() throws Exception {
    Path log;
    long version;
    try (RocksEngine engine = open()) {
      log = engine.run.log().newest().file();
      version = commit().set("k", "v").on(engine).version();
    }
    Files.delete(log);
    assertRefused("delete the lines that begin with \"log\" in " + record());

    Files.writeString(record(), Files.readString(record()).replaceAll("log .*\n", ""));
    // The clock stands still, so versions do not come from it.
    try (RocksEngine engine =
        RocksEngine.open(folder, EngineOptions.defaults().with(TestOptions.clock(() -> 0)))) {
      assertThat(get(engine, "k")).isNull();
      assertThat(engine.readVersion()).isGreaterThan(version);
    }
    assertOpens();
  }

  @Test
  void older_state_of_the_store_is_refused() throws Exception {
    writeStore();
    Files.writeString(
        record(),
        Files.readString(record()).replaceAll("ceiling .*\n", "ceiling 999999999999999999\n"));

    assertRefused("and had gone up to 999999999999999999, so it is an older state");
  }

  @Test
  void closed_store_is_recorded_exactly() throws Exception {
    Path log = writeStore();

    assertThat(recorded()).containsExactly(Map.entry(number(log), Folders.length(log)));
  }

  @Test
  void running_store_is_recorded_now_and_then() throws Exception {
    TurnedByHand turns = new TurnedByHand();
    try (RocksEngine engine =
        RocksEngine.open(
            folder, EngineOptions.defaults().with(TestOptions.threads(turns, turns)))) {
      Path log = engine.run.log().newest().file();
      long atFirst = Folders.length(log);
      assertThat(recorded()).containsExactly(Map.entry(number(log), atFirst));
      engine.commit(commit().set("a", "1").request());
      turns.run();
      long committed = Folders.length(log);
      assertThat(committed).isGreaterThan(atFirst);

      strike(turns, LogRecorder.TICKS_BETWEEN_RECORDS - 1);
      assertThat(recorded()).containsEntry(number(log), atFirst);
      strike(turns, 3);
      assertThat(recorded()).containsEntry(number(log), committed);
    }
  }

  @Test
  void store_that_is_never_idle_is_recorded_too() throws Exception {
    TurnedByHand turns = new TurnedByHand();
    try (RocksEngine engine =
        RocksEngine.open(
            folder, EngineOptions.defaults().with(TestOptions.threads(turns, turns)))) {
      Path log = engine.run.log().newest().file();
      long atFirst = Folders.length(log);
      for (int i = 0; i < LogRecorder.TICKS_BETWEEN_RECORDS + 2; i++) {
        engine.commit(commit().set("a", "1").request());
        // The tick finds the commit waiting.
        turns.tick();
      }
      assertThat(recorded().get(number(log))).isGreaterThan(atFirst);
      assertThat(recorded().get(number(log))).isLessThanOrEqualTo(Folders.length(log));
    }
  }

  private static void strike(TurnedByHand turns, int ticks) {
    for (int i = 0; i < ticks; i++) {
      turns.tick();
    }
  }

  private RocksEngine open() {
    return RocksEngine.open(folder, EngineOptions.defaults());
  }

  /** Writes a closed store with two commits. Returns its only log. */
  private Path writeStore() {
    try (RocksEngine engine = open()) {
      emptyLength = engine.run.log().newest().length();
      commit().set("a", "1").on(engine);
      commit().set("b", "2").on(engine);
      return engine.run.log().newest().file();
    }
  }

  /** As while a memtable is being flushed. */
  private SortedMap<Long, Path> twoNeededLogs() throws Exception {
    writeStore();
    withRocks(
        true,
        db -> {
          try (WriteOptions synced = new WriteOptions().setSync(true)) {
            db.put(synced, Commits.bytes("c"), Commits.bytes("3"));
          }
          LogTracker tracker = new LogTracker(folder.resolve("rocks"), () -> 0, false);
          new LogRecordFile(folder).write(tracker.noted());
        });
    SortedMap<Long, Path> logs = LogNames.in(folder.resolve("rocks"));
    assertThat(recorded().keySet()).isEqualTo(logs.keySet()).hasSize(2);
    return logs;
  }

  private void withRocks(boolean keepLogs, UseOfRocks use) throws Exception {
    RocksDB.loadLibrary();
    try (Options options = new Options().setAvoidFlushDuringRecovery(keepLogs);
        RocksDB db = RocksDB.open(options, folder.resolve("rocks").toString())) {
      use.of(db);
    }
  }

  /** A test's use of the store below the engine. */
  private interface UseOfRocks {
    void of(RocksDB db) throws Exception;
  }

  private Path record() {
    return folder.resolve("lectus.logs");
  }

  private Map<Long, Long> recorded() throws IOException {
    return new LogRecordFile(folder).read().lengths();
  }

  private static long number(Path log) {
    return Long.parseLong(log.getFileName().toString().replace(".log", ""));
  }

  private void assertOpens() {
    ReadOnlyEngine.open(folder, EngineOptions.defaults()).close();
    try (RocksEngine engine = open()) {
      commit().set("after", "").on(engine);
    }
    open().close();
  }

  /** Checks that serving and auditing are both refused, and that nothing changes. */
  private void assertRefused(String sentence) {
    Map<String, Integer> before = Folders.fingerprint(folder);
    StoreOpenException serving = assertThrows(StoreOpenException.class, this::open);
    StoreOpenException checking =
        assertThrows(
            StoreOpenException.class,
            () -> ReadOnlyEngine.open(folder, EngineOptions.defaults()).close());

    assertThat(serving)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining("is damaged")
        .hasMessageContaining(sentence)
        .message()
        .doesNotContain("\n");
    assertThat(serving.isDamage()).isTrue();
    assertThat(checking).hasMessage(serving.getMessage());
    assertThat(checking.isDamage()).isTrue();
    assertThat(Folders.fingerprint(folder)).isEqualTo(before);
  }

  @Test
  void store_that_cannot_write_its_log_is_opened_again_and_keeps_what_it_acknowledged()
      throws Exception {
    assumeTrue(Files.isExecutable(SHELL), "needs a shell that limits file sizes");
    List<String> answers = answersOfWriter();

    int inDoubt = answers.indexOf("1021");
    int again = inDoubt + answers.subList(inDoubt, answers.size()).indexOf("0");
    assertThat(inDoubt).isPositive();
    assertThat(answers.subList(0, inDoubt)).containsOnly("0");
    assertThat(answers.subList(inDoubt + 1, again)).containsOnly("1514").isNotEmpty();
    assertThat(answers.subList(again, answers.size())).containsOnly("0").hasSize(AFTERWARDS);
    try (RocksEngine engine = RocksEngine.open(folder, EngineOptions.defaults())) {
      List<String> keys =
          Commits.rows(engine, "k", "l").stream().map(row -> row.substring(0, KEY_BYTES)).toList();
      assertThat(keys)
          .containsAll(
              IntStream.range(0, answers.size())
                  .filter(number -> answers.get(number).equals("0"))
                  .mapToObj(LostLogTest::key)
                  .toList());
    }
  }

  private List<String> answersOfWriter() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    String limited = "ulimit -f " + MAX_FILE_BLOCKS + "; exec \"$@\"";
    command.addAll(List.of(SHELL.toString(), "-c", limited, "sh"));
    command.addAll(TestJava.command(256, "-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary));
    command.addAll(List.of(Writer.class.getName(), folder.toString()));
    Process writer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    List<String> answers =
        writer.inputReader().lines().filter(line -> line.matches("\\d+")).toList();
    assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return answers;
  }

  private static String key(int number) {
    return String.format("k%07d", number);
  }

  /**
   * Commits until some time after the first failures. Prints the code of each answer, 0 for
   * success.
   */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) {
      EngineOptions options = EngineOptions.defaults().withMemory(1 << 20, NO_FLUSH_BYTES);
      RocksEngine engine = RocksEngine.open(Path.of(arguments[0]), options);
      boolean failed = false;
      int afterwards = 0;
      for (int i = 0; afterwards < AFTERWARDS; i++) {
        int code = commit(engine, i);
        System.out.println(code);
        failed |= code != 0;
        afterwards += failed && code == 0 ? 1 : 0;
      }
      System.out.flush();
      Runtime.getRuntime().halt(0);
    }

    private static int commit(Engine engine, int number) {
      try {
        byte[] key = Commits.bytes(key(number));
        Commits.commit().set(key, new byte[VALUE_BYTES]).on(engine);
        return 0;
      } catch (CompletionException failure) {
        return ((FDBException) failure.getCause()).getCode();
      }
    }
  }

  /** Recovery tolerates a torn last record and nothing else. */
  @Nested
  class Recovery {
    /** Larger than a block of the log, so that some records span blocks. */
    private static final int VALUE_BYTES = 20_000;

    private static final int COMMITS = 6;

    private static final String RECORD = "lectus.logs";
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
      ByteBuffer record =
          ByteBuffer.allocate(6 + typeAndData.length).order(ByteOrder.LITTLE_ENDIAN);
      record.putInt(masked).putShort((short) (typeAndData.length - 1)).put(typeAndData);
      return new String(record.array(), StandardCharsets.ISO_8859_1);
    }

    private void writeStore() {
      writeStore("v".repeat(VALUE_BYTES));
    }

    private void writeStore(String value) {
      Path folder = temporary.resolve("original");
      EngineOptions options =
          EngineOptions.defaults().with(TestOptions.trackedLog(Durability.SYNC));
      try (RocksEngine engine = RocksEngine.open(folder, options)) {
        lengths.add(engine.run.log().newest().length());
        recorded = Folders.read(folder.resolve(RECORD));
        for (int i = 0; i < COMMITS; i++) {
          commit().set("k" + i, value).set("l" + i, "").on(engine);
          lengths.add(engine.run.log().newest().length());
        }
        copy = temporary.resolve("copy");
        log = copy.resolve(folder.relativize(engine.run.log().newest().file()));
        assertThat(Folders.length(engine.run.log().newest().file()))
            .isEqualTo(lengths.get(COMMITS));
      }
      // As after a crash before the commits were recorded, and without the record of an orderly
      // stop.
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
}
