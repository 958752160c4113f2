package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.apple.foundationdb.Transaction;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import lectus.error.StoreOpenException;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.embedded.engine.OpenStore.StoppedStore;
import lectus.store.embedded.engine.folder.DataFolder;
import lectus.store.testing.TestJava;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import org.slf4j.LoggerFactory;

/** A store that cannot be opened gets one clear sentence and stays unchanged. */
class OpeningTest {
  @TempDir Path temporary;
  private Path folder;

  @BeforeEach
  void nameFolder() {
    folder = temporary.resolve("new/data");
  }

  @Test
  void missing_folder_becomes_a_store_that_opens_again() {
    try (RocksEngine engine = open()) {
      commit().set("k", "v").on(engine);
    }
    try (RocksEngine engine = open()) {
      assertThat(get(engine, "k")).isEqualTo("v");
    }
    assertThat(folder.resolve("lectus.format")).hasContent("lectus embedded store\nformat 1\n");
  }

  /**
   * RocksDB used to complain at each start of a setting that the check before opening does not use.
   */
  @Test
  @EnabledOnOs(OS.LINUX)
  void other_users_may_not_enter_a_new_store() throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    makeStore();

    assertThat(permissions("")).isEqualTo("rwx------");
    assertThat(permissions("rocks")).isEqualTo("rwx------");
    assertThat(permissions("lectus.format")).isEqualTo("rw-------");
    assertThat(permissions("lectus.lock")).isEqualTo("rw-------");
    assertThat(permissions("lectus.logs")).isEqualTo("rw-------");
  }

  /** As volumes have them whose users come from elsewhere: OpenShift, fsGroup of Kubernetes. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void a_group_that_may_write_is_meant() throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxr-x"));
    makeStore();
    ListAppender<ILoggingEvent> lines = linesOf("lectus.store.embedded.engine.folder.DataFolder");
    makeStore();

    assertThat(permissions("")).isEqualTo("rwxrwx---");
    assertThat(lines.list).isEmpty();
  }

  private String permissions(String name) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void an_existing_store_that_others_may_enter_is_warned_of_and_left_so() throws IOException {
    makeStore();
    ListAppender<ILoggingEvent> lines = linesOf("lectus.store.embedded.engine.folder.DataFolder");
    makeStore();
    assertThat(lines.list).isEmpty();

    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-x---"));
    makeStore();
    assertThat(permissions("")).isEqualTo("rwxr-x---");
    assertThat(lines.list)
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.getLevel()).isEqualTo(Level.WARN);
              assertThat(line.getFormattedMessage()).contains(folder.toString(), "chmod 700");
            });
  }

  private static ListAppender<ILoggingEvent> linesOf(String logger) {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    ((Logger) LoggerFactory.getLogger(logger)).addAppender(lines);
    return lines;
  }

  @Test
  void opening_again_is_nothing_to_warn_of() {
    open().close();
    Logger rocks = (Logger) LoggerFactory.getLogger("rocksdb");
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    rocks.setLevel(Level.DEBUG);
    rocks.addAppender(lines);
    try {
      open().close();
    } finally {
      rocks.detachAppender(lines);
      rocks.setLevel(null);
    }

    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .noneMatch(line -> line.contains("sanitized"));
  }

  @Test
  void interrupted_creation_begins_again() throws IOException {
    Files.createDirectories(folder.resolve("rocks"));
    Files.writeString(folder.resolve("lectus.creating"), "");
    Files.writeString(folder.resolve("rocks/CURRENT"), "rubbish");

    try (RocksEngine engine = open()) {
      commit().set("k", "v").on(engine);
    }
    assertThat(folder.resolve("lectus.creating")).doesNotExist();
    open().close();
  }

  @Test
  void newer_format_is_refused() throws IOException {
    makeStore();
    Files.writeString(folder.resolve("lectus.format"), "lectus embedded store\nformat 2\n");

    assertRefused("was written by a newer version of Lectus: its format is 2");
  }

  @Test
  void damaged_format_file_is_refused() throws IOException {
    makeStore();
    Files.writeString(folder.resolve("lectus.format"), "lectus embedded store\nformat x\n");
    assertRefused("damaged: lectus.format is not readable");

    Files.write(folder.resolve("lectus.format"), new byte[0]);
    assertRefused("damaged: lectus.format is not readable");
  }

  @Test
  void foreign_folder_is_refused() throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("letter.txt"), "dear");

    assertRefused("is not empty and holds no Lectus store");
  }

  @Test
  void file_in_place_of_the_folder_is_refused() throws IOException {
    Files.createDirectories(folder.getParent());
    Files.writeString(folder, "file");

    assertRefused("is not a directory");
  }

  @Test
  void folder_below_a_file_is_refused() throws IOException {
    Files.createDirectories(folder.getParent());
    Files.writeString(folder, "file");
    folder = folder.resolve("below/it");

    // Not even root can.
    assertRefused("cannot be used: Not a directory.");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void folder_that_nobody_can_make_is_refused() {
    folder = Path.of("/proc/lectus-test/data");

    assertRefused("cannot be used: No such file or directory.");
  }

  @Test
  void unwritable_folder_is_refused() throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
    assumeFalse(Files.isWritable(folder), "this user may write everywhere");

    assertRefused("cannot be read and written by this user");
  }

  @Test
  void missing_database_is_refused() {
    makeStore();
    Folders.delete(folder.resolve("rocks"));

    assertRefused("damaged: rocks is missing");
  }

  @Test
  void damaged_database_is_refused() throws IOException {
    makeStore();
    Files.writeString(folder.resolve("rocks/CURRENT"), "MANIFEST-999999\n");
    assertRefused("is damaged and was not opened");

    Files.delete(folder.resolve("rocks/CURRENT"));
    assertRefused("is damaged and was not opened");
  }

  @Test
  void missing_table_is_refused() throws IOException {
    makeStore();
    // Recovery flushes the log into a table.
    makeStore();
    Files.delete(table());
    assertRefused("is damaged and was not opened");
  }

  @Test
  void damaged_rows_for_which_a_start_is_refused_are_found_before_anything_is_written()
      throws IOException {
    writeTable();
    Path crashed = temporary.resolve("crashed");
    try (Store store = EmbeddedStores.open(folder)) {
      store.database().run(tx -> set(tx, 0));
      Folders.copy(folder, crashed);
    }
    int refused = 0;
    for (int part = 0; part < 12; part++) {
      Folders.delete(folder);
      Folders.copy(crashed, folder);
      Path table = table();
      Folders.zero(table, Folders.length(table) * part / 12, 20);
      Map<String, Integer> before = Folders.fingerprint(folder);
      try {
        EmbeddedStores.open(folder).close();
      } catch (StoreOpenException damaged) {
        refused++;
        assertThat(damaged.isDamage()).as(damaged.getMessage()).isTrue();
        assertThat(Folders.fingerprint(folder)).as("part %d", part).isEqualTo(before);
      }
    }
    assertThat(refused).isPositive();
  }

  /** The second opening writes the log of the first into a table. */
  private void writeTable() {
    try (Store store = EmbeddedStores.open(folder)) {
      for (int i = 0; i < 40; i++) {
        int first = 50 * i;
        store
            .database()
            .run(
                tx -> {
                  for (int row = first; row < first + 50; row++) {
                    set(tx, row);
                  }
                  return null;
                });
      }
    }
    EmbeddedStores.open(folder).close();
  }

  private static Void set(Transaction tx, int row) {
    byte[] value = new byte[100];
    new Random(row).nextBytes(value);
    tx.set(Commits.bytes("row" + row), value);
    return null;
  }

  private Path table() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
      return files.filter(file -> file.toString().endsWith(".sst")).findAny().orElseThrow();
    }
  }

  @Test
  void second_open_in_the_same_process_is_refused() {
    try (RocksEngine engine = open()) {
      commit().set("k", "v").on(engine);
      assertRefused("is already open in this process");
      assertThat(get(engine, "k")).isEqualTo("v");
    }
  }

  @Test
  void folder_held_by_another_process_is_refused() throws Exception {
    makeStore();
    List<String> command = TestJava.command(64);
    command.addAll(List.of(LockHolder.class.getName(), folder.resolve("lectus.lock").toString()));
    Process holder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("locked");
      assertRefused("is in use by another process.");
      Path lock = folder.resolve("lectus.lock");
      Files.writeString(lock, holder.pid() + "\n");
      assertRefused("is in use by another process (pid " + holder.pid() + ").");
      Files.writeString(lock, ProcessHandle.current().pid() + "\n");
      assertRefused("is in use by another process.");
    } finally {
      holder.destroyForcibly();
      assertThat(holder.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
    open().close();
  }

  /** Locks the given file until killed. */
  static final class LockHolder {
    private LockHolder() {}

    public static void main(String[] arguments) throws Exception {
      try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE);
          var lock = channel.lock()) {
        System.out.println(lock.isValid() ? "locked" : "not locked");
        Thread.sleep(Long.MAX_VALUE);
      }
    }
  }

  private RocksEngine open() {
    return RocksEngine.open(folder, EngineOptions.defaults());
  }

  private void makeStore() {
    try (RocksEngine engine = open()) {
      commit().set("k", "v").on(engine);
    }
  }

  private void assertRefused(String sentence) {
    Path root = temporary;
    Map<String, Integer> before = Folders.fingerprint(root);

    assertThatThrownBy(this::open)
        .isInstanceOf(StoreOpenException.class)
        .hasMessageContaining(folder.toString())
        .hasMessageContaining(sentence)
        .message()
        .doesNotContain("\n");

    assertThat(Folders.fingerprint(root)).isEqualTo(before);
  }

  /** A process that reopens its store finds the same store, or says why not. */
  @Nested
  class Reopening {
    private static final int TICKS_OF_A_MINUTE = 600;

    @BeforeEach
    void makeStore() {
      folder = temporary.resolve("store");
      RocksEngine.open(folder, EngineOptions.defaults()).close();
    }

    @Test
    void a_store_that_is_there_is_taken_again() {
      try (DataFolder again = DataFolder.takeAgain(folder)) {
        assertThat(again.isNew()).isFalse();
      }
    }

    /** As when a disk is no longer mounted: the folder exists and is empty. */
    @Test
    void none_is_made_in_place_of_one_that_is_gone() throws Exception {
      Folders.delete(folder);
      Files.createDirectory(folder);

      assertThatThrownBy(() -> DataFolder.takeAgain(folder))
          .isInstanceOf(StoreOpenException.class)
          .hasMessageContaining("is gone");
      assertThat(folder).isEmptyDirectory();
    }

    @Test
    void a_process_without_descriptors_says_nothing_about_damage() {
      try (DataFolder look = DataFolder.look(folder)) {
        StoreOpenException lacking =
            StoppedStore.refused(
                look, new RocksDBException("While open a file: 7.sst: Too many open files"));
        assertThat(lacking.isDamage()).isFalse();
        assertThat(lacking).hasMessageContaining("too many files and sockets open");

        StoreOpenException broken =
            StoppedStore.refused(look, new RocksDBException("Corruption: bad block"));
        assertThat(broken.isDamage()).isTrue();
      }
    }

    @Test
    void the_timer_outlives_a_tick_that_fails() {
      TurnedByHand hand = new TurnedByHand();
      AtomicBoolean lacksMemory = new AtomicBoolean();
      Executor executor =
          task -> {
            if (lacksMemory.get()) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
          };
      try (RocksEngine engine =
          RocksEngine.open(
              folder, EngineOptions.defaults().with(TestOptions.threads(executor, hand)))) {
        for (int i = 1; i < TICKS_OF_A_MINUTE; i++) {
          hand.tick();
        }
        lacksMemory.set(true);
        // It requests a thread once a minute.
        hand.tick();
        lacksMemory.set(false);

        commit().set("k", "v").on(engine);
        assertThat(get(engine, "k")).isEqualTo("v");
      }
    }
  }
}
