package lectus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lectus.Lectus;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of {@code lectus check}, which leaves the store as it is. */
final class CheckCommandTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private Path data() {
    return folder.resolve("data");
  }

  private int check(String... flags) {
    String[] args = Stream.concat(Stream.of("check"), Stream.of(flags)).toArray(String[]::new);
    return Lectus.run(args, Map.of(), new Console(new PrintWriter(out), new PrintWriter(err)));
  }

  private int checkData(String... more) {
    Stream<String> data = Stream.of("--data", data().toString());
    return check(Stream.concat(data, Stream.of(more)).toArray(String[]::new));
  }

  private void store(Consumer<Store> use) {
    try (Store store = EmbeddedStores.open(data())) {
      use.accept(store);
    }
  }

  private void twoDatabases() {
    store(
        store -> {
          try (LectusServer server = LectusServer.start(store)) {
            server.put("/w");
            server.put("/v");
            server.put("/w/a", "{\"x\":1}");
            server.put("/w/b", "{\"x\":2}");
            server.put("/w/_local/l", "{}");
          }
        });
  }

  /** Returns every file with its content's hash and its time. */
  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(data())) {
      for (Path path : tree.toList()) {
        String content =
            Files.isDirectory(path)
                ? ""
                : Integer.toString(Arrays.hashCode(Files.readAllBytes(path)));
        files.put(path.toString(), content + " " + Files.getLastModifiedTime(path));
      }
    }
    return files;
  }

  @Test
  void a_sound_store_is_said_to_be_and_left_as_it_is() throws IOException {
    twoDatabases();
    Map<String, String> before = files();

    assertThat(checkData()).isZero();

    assertThat(out.toString())
        .matches(
            "Sound: 2 databases with 2 documents, deleted ones included, read at versions?"
                + " [0-9]+( to [0-9]+)?\\.\\R");
    assertThat(err.toString()).isEmpty();
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void a_repair_says_what_it_would_do_and_does_it_when_told() throws IOException {
    twoDatabases();
    store(
        store -> {
          TestDatabase db = TestDatabase.open(store, "w");
          byte[] prefix = db.catalogue.open(db.name).prefix();
          byte[] row = DatabaseSubspace.ALL_DOCS.key(prefix).string("a").integer(7).toBytes();
          db.transactions.run(
              tx -> {
                tx.set(row, new byte[] {1});
                return null;
              });
        });
    Map<String, String> before = files();

    assertThat(checkData("--repair", "w")).isEqualTo(CheckCommand.NOT_SOUND);

    assertThat(out.toString())
        .contains("its row of the all-docs index cannot be read")
        .contains("  repair: the rows that cannot be read are removed")
        .contains("Nothing was changed.");
    assertThat(files()).isEqualTo(before);
    assertThat(checkData("--repair", "--yes", "w")).isZero();
    assertThat(out.toString())
        .contains("Repaired: database \"w\", document \"a\": the rows that cannot be read")
        .contains("Sound: 1 database with 2 documents");
    assertThat(checkData()).isZero();
    assertThat(checkData("--yes")).isEqualTo(CheckCommand.NOT_CHECKED);
  }

  private Path newestLog() throws IOException {
    try (Stream<Path> files = Files.list(data().resolve("rocks"))) {
      return files.filter(it -> it.toString().endsWith(".log")).max(Path::compareTo).orElseThrow();
    }
  }

  /** Expects the sentence that serving would print, and the status of an unsound store. */
  private void assertDamaged(String sentence) throws IOException {
    Map<String, String> before = files();

    assertThat(checkData()).isEqualTo(1);

    assertThat(out.toString()).hasLineCount(1).contains(data().toString()).contains(sentence);
    assertThat(err.toString()).isEmpty();
    assertThatThrownBy(() -> EmbeddedStores.open(data())).hasMessage(out.toString().strip());
    assertThat(files()).isEqualTo(before);
    out.getBuffer().setLength(0);
  }

  @Test
  void a_byte_flipped_in_the_log_is_found() throws IOException {
    twoDatabases();
    byte[] log = Files.readAllBytes(newestLog());
    log[20] ^= 1;
    Files.write(newestLog(), log);

    assertDamaged("the write-ahead log " + newestLog().getFileName() + " is broken at byte 0");
  }

  /** The store was closed and opened again, so its rows are in a table, in more than one block. */
  private Path tableOfTwoDatabases() throws IOException {
    twoDatabases();
    store(
        store -> {
          try (LectusServer server = LectusServer.start(store)) {
            for (int i = 0; i < 20; i++) {
              server.put("/w/long-" + i, "{\"text\":\"" + "x".repeat(4_000) + "\"}");
            }
          }
        });
    store(store -> {});
    try (Stream<Path> files = Files.list(data().resolve("rocks"))) {
      return files
          .filter(it -> it.toString().endsWith(".sst"))
          .max(Comparator.comparingLong(it -> it.toFile().length()))
          .orElseThrow();
    }
  }

  @Test
  void a_byte_flipped_in_a_table_is_found() throws IOException {
    Path table = tableOfTwoDatabases();
    byte[] bytes = Files.readAllBytes(table);
    bytes[bytes.length / 2] ^= 1;
    Files.write(table, bytes);

    assertThat(checkData()).isEqualTo(1);

    assertThat(out.toString()).hasLineCount(1).contains(table.getFileName().toString());
    assertThat(out.toString()).endsWith(".\n").doesNotContain("..");
  }

  @Test
  void a_log_that_is_short_or_missing_is_found() throws IOException {
    twoDatabases();
    Path log = newestLog();
    long length = Files.size(log);
    Files.write(log, new byte[0]);
    assertDamaged(
        log.getFileName() + " ends after 0 of the " + length + " bytes that had been synced");

    Files.delete(log);
    assertDamaged(log.getFileName() + " is missing, of which " + length + " bytes");
  }

  @Test
  void a_log_that_a_crash_has_torn_is_read_and_left_as_it_is() throws IOException {
    twoDatabases();
    Files.write(newestLog(), new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
    Map<String, String> before = files();

    assertThat(checkData()).isZero();

    assertThat(files()).isEqualTo(before);
    store(store -> assertThat(store.id()).isNotEmpty());
  }

  @Test
  void one_database_is_looked_at_alone() {
    twoDatabases();

    assertThat(checkData("w")).isZero();
    assertThat(out.toString()).startsWith("Sound: 1 database with 2 documents");
  }

  /**
   * Adds a key under a prefix that the directory layer never allocates: its prefixes are integers.
   */
  private void addStranger() {
    store(
        store ->
            new TransactionRunner(store, TransactionLimits.DEFAULT)
                .run(
                    tx -> {
                      tx.set(new byte[] {0x01}, new byte[0]);
                      return null;
                    }));
  }

  @Test
  void what_is_wrong_is_listed() {
    twoDatabases();
    addStranger();

    assertThat(checkData()).isEqualTo(1);

    assertThat(out.toString().lines())
        .contains("the store: something of no database, the key \\x01")
        .anyMatch(it -> it.startsWith("Not sound, 1 finding: 2 databases with 2 documents"));
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void a_store_in_use_is_one_sentence() {
    store(store -> assertNotChecked(checkData(), "is already open in this process."));
  }

  @Test
  void what_cannot_be_checked_has_a_status_of_its_own() throws IOException {
    assertNotChecked(checkData(), "holds no Lectus store.");
    assertThat(data()).doesNotExist();
    Files.createDirectories(data());
    assertNotChecked(checkData(), "holds no Lectus store.");
    assertThat(data()).isEmptyDirectory();
    twoDatabases();
    assertNotChecked(checkData("nodb"), "Database does not exist.");
    assertNotChecked(checkData("Illegal"), "Name: 'Illegal'. Only lowercase");
    assertNotChecked(check("--store", "foundationdb"), "needs a --cluster-file");
    assertNotChecked(check("--store", "memory"), "must be embedded or foundationdb");
    assertNotChecked(check("--frob"), "--frob");
    assertNotChecked(check("--set", "frob=1"), "frob");
    assertNotChecked(check("--store", "foundationdb", "--cluster-file", "none"), "none");
  }

  /** One line, no stack trace. */
  private void assertNotChecked(int status, String sentence) {
    assertThat(status).isEqualTo(2);
    assertThat(err.toString().strip().lines()).hasSize(1);
    assertThat(err.toString()).startsWith("lectus: ").contains(sentence);
    assertThat(out.toString()).isEmpty();
    err.getBuffer().setLength(0);
  }
}
