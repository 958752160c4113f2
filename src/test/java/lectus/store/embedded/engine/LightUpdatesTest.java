package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import lectus.store.embedded.engine.Reclaiming.QuietFlush;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a nearly idle store handles its few writes. */
class LightUpdatesTest {
  private static final int ROWS = 25;

  /** Their deletions are fewer than what a store at rest flushes. */
  private static final int UPDATES = QuietFlush.MANY_DELETIONS / ROWS - 1;

  /** More than half a minute of ticks. */
  private static final int TICKS = 400;

  @TempDir Path folder;

  @Test
  void stays_in_memory_while_deletions_are_few() throws IOException {
    TurnedByHand hand = new TurnedByHand();
    EngineOptions options = EngineOptions.defaults().with(TestOptions.threads(hand, hand));
    try (RocksEngine engine = RocksEngine.open(folder, options)) {
      List<String> before = logs();
      for (int update = 0; update < UPDATES; update++) {
        engine.commit(replacement(update).request());
        hand.run();
      }
      for (int i = 0; i < TICKS; i++) {
        hand.tick();
      }

      // Each memtable has its own log, which begins with it.
      assertThat(logs()).isEqualTo(before).hasSize(1);
    }
  }

  /** Clears as many rows as it sets, like the update of a document. */
  private static Commits replacement(int update) {
    Commits commit = commit();
    for (int row = 0; row < ROWS; row++) {
      commit.clear("doc/" + update + "/" + row, "doc/" + update + "/" + row + "\0");
      commit.set("doc/" + (update + 1) + "/" + row, "");
    }
    return commit;
  }

  private List<String> logs() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("rocks"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".log"))
          .sorted()
          .toList();
    }
  }
}
