package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.commit;
import static lectus.store.embedded.engine.Commits.rows;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A range is covered only while it is empty. */
class CoverTest {
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
