package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import lectus.error.StoreOpenException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteOptions;

/** A store that lacks something of a log is refused; one that lost nothing is not. */
class LostLogTest {
  @TempDir Path temporary;
  private Path folder;

  /** Of the log, when the store is open and has no commit yet. */
  private long emptyLength;

  @BeforeEach
  void nameFolder() {
    folder = temporary.resolve("store");
  }

  @Test
  void deletedLogIsRefused() throws IOException {
    Path log = writeStore();
    long length = Folders.length(log);
    Files.delete(log);

    assertRefused("is missing, of which " + length + " bytes had been synced");
  }

  @Test
  void emptiedLogIsRefused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.truncate(log, 0);

    assertRefused(log.getFileName() + " ends after 0 of the " + length + " bytes");
  }

  @Test
  void logThatEndsWithAnEarlierRecordIsRefused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.truncate(log, emptyLength);

    assertRefused("ends after " + emptyLength + " of the " + length + " bytes");
  }

  @Test
  void flippedByteInTheLastRecordIsRefused() {
    Path log = writeStore();
    Folders.flipBit(log, Folders.length(log) - 1);

    assertRefused("bytes that had been synced");
  }

  @Test
  void flippedByteInAnEarlierRecordIsRefused() {
    Path log = writeStore();
    Folders.flipBit(log, 20);

    assertRefused("is broken at byte 0");
  }

  @Test
  void whatLiesBehindTheRecordedLengthMayBeTorn() {
    Path log = writeStore();
    Folders.append(log, new byte[] {1, 2, 3, 4, 5});

    assertOpens();
  }

  /** RocksDB, which recycles no log here, would not come to an end with this. */
  @Test
  void recordOfARecycledLogIsRefused() {
    Path log = writeStore();
    long length = Folders.length(log);
    Folders.append(log, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9});

    assertRefused("is broken at byte " + length);
  }

  /** As after a loss of power between a switch to a new log and its first synced write. */
  @Test
  void emptyNewerLogMayBeThereOrNot() throws IOException {
    Path log = writeStore();
    Path newer = log.resolveSibling(LogFiles.name(number(log) + 50));
    Files.createFile(newer);

    assertOpens();
  }

  @Test
  void twoNeededLogsAreRead() throws Exception {
    twoNeededLogs();

    try (RocksEngine engine = open()) {
      assertThat(Commits.rows(engine, "a", "d")).hasSize(3);
    }
    assertOpens();
  }

  @Test
  void deletedOlderLogIsRefused() throws Exception {
    SortedMap<Long, Path> logs = twoNeededLogs();

    Path older = logs.get(logs.firstKey());
    Folders.delete(older);
    assertRefused(older.getFileName() + " is missing");
  }

  @Test
  void olderLogThatEndsWithAnEarlierRecordIsRefused() throws Exception {
    SortedMap<Long, Path> logs = twoNeededLogs();

    Path older = logs.get(logs.firstKey());
    Folders.truncate(older, emptyLength);
    assertRefused(older.getFileName() + " ends after " + emptyLength + " of the ");
  }

  /** As after a crash between the moment when RocksDB has done with a log and the next record. */
  @Test
  void logThatIsWrittenOutMayBeGone() throws Exception {
    Path log = writeStore();
    withRocks(false, db -> {});
    assertThat(log).doesNotExist();
    assertThat(recorded()).containsKey(number(log));

    assertOpens();
  }

  @Test
  void storeFromBeforeRecordsOpens() throws Exception {
    writeStore();
    Files.delete(record());

    assertOpens();
    assertThat(record()).exists();
  }

  @Test
  void recordThatIsNoneIsRefused() throws Exception {
    writeStore();
    Files.writeString(record(), "lectus synced logs\nceiling x\n");

    assertRefused("lectus.logs is not readable; once it is deleted the store opens");
  }

  /** What the refusal advises. */
  @Test
  void whatIsLeftOpensWithoutTheLinesOfLogsAndVersionsGoOn() throws Exception {
    Path log;
    long version;
    try (RocksEngine engine = open()) {
      log = engine.syncedLog().file();
      version = commit().set("k", "v").on(engine).version();
    }
    Files.delete(log);
    assertRefused("delete the lines that begin with \"log\" in " + record());

    Files.writeString(record(), Files.readString(record()).replaceAll("log .*\n", ""));
    // The clock says nothing here: it stands still.
    try (RocksEngine engine =
        RocksEngine.open(folder, EngineOptions.defaults().withClock(() -> 0))) {
      assertThat(get(engine, "k")).isNull();
      assertThat(engine.readVersion()).isGreaterThan(version);
    }
    assertOpens();
  }

  @Test
  void olderStateOfTheStoreIsRefused() throws Exception {
    writeStore();
    Files.writeString(
        record(), Files.readString(record()).replaceAll("ceiling .*\n", "ceiling 999999999999\n"));

    assertRefused("and had gone up to 999999999999, so it is an older state");
  }

  @Test
  void closedStoreIsRecordedExactly() throws Exception {
    Path log = writeStore();

    assertThat(recorded()).containsExactly(Map.entry(number(log), Folders.length(log)));
  }

  @Test
  void runningStoreIsRecordedNowAndThen() throws Exception {
    TurnedByHand turns = new TurnedByHand();
    try (RocksEngine engine =
        RocksEngine.open(folder, EngineOptions.defaults().withThreads(turns, turns))) {
      Path log = engine.syncedLog().file();
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
  void storeThatIsNeverIdleIsRecordedToo() throws Exception {
    TurnedByHand turns = new TurnedByHand();
    try (RocksEngine engine =
        RocksEngine.open(folder, EngineOptions.defaults().withThreads(turns, turns))) {
      Path log = engine.syncedLog().file();
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

  /** A closed store with two commits; its only log. */
  private Path writeStore() {
    try (RocksEngine engine = open()) {
      emptyLength = engine.syncedLog().length();
      commit().set("a", "1").on(engine);
      commit().set("b", "2").on(engine);
      return engine.syncedLog().file();
    }
  }

  /** As while a memtable is being written out. */
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
    SortedMap<Long, Path> logs = LogFiles.in(folder.resolve("rocks"));
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

  /** What a test does with the store below the engine. */
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

  /** For serving and for checking alike, and nothing changes. */
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
}
