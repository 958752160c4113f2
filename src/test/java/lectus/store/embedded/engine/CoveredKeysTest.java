package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.rows;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events between the request of a commit and the committer's turn. */
class CoveredKeysTest {
  private static final int VERSIONSTAMP_BYTES = 10;

  /** A row of this many bytes fills a block of a file. */
  private static final int BLOCK_BYTES = 10_000;

  @TempDir Path folder;
  private final TurnedByHand hand = new TurnedByHand();
  @AutoClose private RocksEngine engine;

  @BeforeEach
  void open() {
    open(EngineOptions.defaults());
  }

  private void open(EngineOptions options) {
    engine =
        RocksEngine.open(
            folder,
            options
                .with(TestOptions.threads(hand, hand))
                .with(TestOptions.groups(1, options.groupBytes())));
  }

  @Test
  void a_key_that_came_meanwhile_is_cleared_too() {
    run(commit().set("a1", ""));

    run(commit().set("a2", ""), commit().clear("a", "b"), commit().set("a3", ""));

    assertThat(rows(engine, "", "z")).containsExactly("a3=");
  }

  @Test
  void so_is_one_that_nobody_asked_to_conflict_with() {
    run(commit().set("a1", ""));

    run(commit().set("a2", "").unrecorded(), commit().clear("a", "b"));

    assertThat(rows(engine, "", "z")).isEmpty();
  }

  @Test
  void so_is_one_that_got_its_name_from_the_committer() {
    byte[] template = new byte[1 + VERSIONSTAMP_BYTES + Integer.BYTES];
    template[0] = 'a';
    template[1 + VERSIONSTAMP_BYTES] = 1;
    run(commit().set("a1", ""));

    run(
        commit().atomic(MutationType.SET_VERSIONSTAMPED_KEY, template, new byte[0]),
        commit().clear("a", "b"));

    assertThat(rows(engine, "", "z")).isEmpty();
  }

  @Test
  void so_is_one_that_the_history_has_forgotten() {
    engine.close();
    open(EngineOptions.defaults().withLimits(1, 64 << 20));
    run(commit().set("a1", ""));

    run(commit().set("a2", ""), commit().clear("a", "b"));

    assertThat(rows(engine, "", "z")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {StoreReader.FEW_KEYS, StoreReader.FEW_KEYS + 1})
  void few_that_became_many_and_many_that_became_few(int keys) {
    Commits before = commit().set("b", "");
    Commits meanwhile = commit();
    for (int i = 0; i < keys; i++) {
      before.set("a" + i, "");
      meanwhile.clear("a" + i, "a" + i + "\0");
    }
    run(before);
    run(meanwhile, commit().clear("a", "b"));
    assertThat(rows(engine, "", "z")).containsExactly("b=");

    Commits more = commit();
    for (int i = 0; i < keys; i++) {
      more.set("a" + i, "");
    }
    run(more, commit().clear("a", "b"));
    assertThat(rows(engine, "", "z")).containsExactly("b=");
  }

  @Test
  void keys_beyond_what_is_listed_are_cleared_too() {
    String long900 = "x".repeat(900);
    Commits before = commit();
    for (int i = 0; i < 30; i++) {
      for (int j = 0; j < StoreReader.FEW_KEYS; j++) {
        before.set(name(i) + long900 + j, "");
      }
    }
    run(before);

    Commits clears = commit();
    for (int i = 0; i < 30; i++) {
      clears.clear(name(i), name(i + 1));
    }
    run(clears);

    assertThat(rows(engine, "", "z")).isEmpty();
  }

  private static String name(int number) {
    return String.format("a%03d", number);
  }

  @Test
  void the_committer_needs_no_file() throws IOException {
    String block = "x".repeat(BLOCK_BYTES);
    run(
        commit()
            .set("a1", block)
            .set("a2", block)
            .set("counter", "\5")
            .set("filler1", block)
            .set("filler2", block)
            .set("filler3", block));
    // Recovery flushes the log into a file.
    engine.close();
    open();

    CompletableFuture<CommitReceipt> commit =
        engine.commit(
            commit()
                .clear("a", "b")
                .atomic(MutationType.ADD, bytes("counter"), new byte[] {1})
                .request());
    overwriteRows();
    hand.run();

    assertThat(commit).isCompleted();
    assertThat(rows(engine, "", "b")).isEmpty();
    assertThat(Commits.get(engine, "counter")).isEqualTo("\6");
  }

  private void overwriteRows() throws IOException {
    List<Path> tables;
    try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
      tables = files.filter(file -> file.toString().endsWith(".sst")).toList();
    }
    assertThat(tables).isNotEmpty();
    for (Path table : tables) {
      try (FileChannel channel = FileChannel.open(table, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.allocate(4 * BLOCK_BYTES), 0);
      }
    }
  }

  /** Requests all commits at once; each is a group of its own. */
  private void run(Commits... commits) {
    // While a reader is open, the history keeps later writes.
    try (StoreSnapshot earlier = engine.latest()) {
      List<CompletableFuture<CommitReceipt>> futures =
          Stream.of(commits).map(each -> engine.commit(each.request())).toList();
      hand.run();
      futures.forEach(CompletableFuture::join);
      assertThat(earlier.version()).isLessThan(engine.readVersion());
    }
  }

  /** A range is covered only while it is empty. */
  @Nested
  class Covers {
    @TempDir Path folder;
    private final TurnedByHand hand = new TurnedByHand();
    @AutoClose private RocksEngine engine;

    private void open(int groupTransactions) {
      EngineOptions options = EngineOptions.defaults();
      engine =
          RocksEngine.open(
              folder,
              options
                  .with(TestOptions.threads(hand, hand))
                  .with(TestOptions.groups(groupTransactions, options.groupBytes())));
    }

    @BeforeEach
    void open() {
      open(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void what_came_meanwhile_without_conflict_range_stays(int groupTransactions) {
      engine.close();
      open(groupTransactions);
      long seenEmpty = engine.readVersion();

      CompletableFuture<?> cover =
          run(commit().set("a1", "new").unrecorded(), commit().at(seenEmpty).cover("a", "b"));

      assertThat(cover).isCompletedExceptionally();
      assertThat(rows(engine, "", "z")).containsExactly("a1=new");
    }

    @Test
    void what_came_elsewhere_is_no_hindrance() {
      long seenEmpty = engine.readVersion();

      CompletableFuture<?> cover =
          run(
              commit().set("b", "").unrecorded(),
              commit().set("Z", "").unrecorded(),
              commit().at(seenEmpty).cover("a", "b"));

      assertThat(cover).isCompleted();
      assertThat(rows(engine, "", "z")).containsExactly("Z=", "b=");
    }

    /** Requests all commits at once. Returns the last one's future. */
    private CompletableFuture<?> run(Commits... commits) {
      // While a reader is open, the history keeps later writes.
      try (StoreSnapshot earlier = engine.latest()) {
        assertThat(earlier.version()).isPositive();
        CompletableFuture<?> last =
            Stream.of(commits)
                .map(each -> engine.commit(each.request()))
                .reduce((former, latter) -> latter)
                .orElseThrow();
        hand.run();
        return last;
      }
    }
  }
}
