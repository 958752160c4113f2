package lectus.http.changes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.http.testing.LectusServer;
import lectus.store.EmbeddedStores;
import lectus.store.Store;
import lectus.store.testing.PlantedBug;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The model of live feeds finds bugs that there were: each is put back into the source of its
 * class, and the model runs with that class in place of the right one.
 */
final class LiveFeedsPlantedBugsTest {
  private static final int MAX_SEEDS = 50;

  /** What the source said when it had the bug. */
  private enum Bug {
    /** Where a document left is told only as long as its entry is there: the next edit moves it. */
    DEPARTURE_OF_LAST_ENTRY(
        "changes/page/EntryReader",
        """
              boolean isAlone = merged.putIfAbsent(left.sequence(), left) == null;
              departures.add(left.sequence(), feed, isAlone);
        """,
        """
              if (merged.containsKey(left.sequence())) {
                departures.add(left.sequence(), feed, false);
              }
        """,
        1),
    /** After a grant a database is read from where the page begins, not from what was passed. */
    ORDER_AFTER_GRANT(
        "changes/notify/OpenDatabases",
        "return before.compareTo(position.at()) > 0 ? before : position.at();",
        "return position.at();",
        6),
    /** Nothing tells who could read a database that is deleted. */
    FORMER_READERS(
        "changes/notify/ManyDatabases",
        "log.end(tx, name, end.at()).map(rights::formerReaders)",
        "Optional.<SecurityObject>empty()",
        3),
    /** A sequence of an earlier life of a database is taken for one of this life. */
    EARLIER_LIFE("changes/page/ChangesReader", "since).inLife(life);", "since);", 23),
    /** A subscription that ends before it has begun tells to resume at "now". */
    NOW_AS_POSITION("http/changes/Subscription", "if (opened) {", "if (true) {", 2),
    /** A stored feed that was removed and defined again is taken for a continuation. */
    REMOVED_FEED(
        "changes/page/FeedPosition",
        "sequence.isPresent() && isBehind(Awaiting.await(feed.removedAt(tx, db)))",
        "false",
        1);

    private final PlantedBug planted;

    /** The first that found it, which is tried first. */
    private final long seed;

    Bug(String type, String right, String wrong, long seed) {
      this.planted = new PlantedBug(type, right, wrong);
      this.seed = seed;
    }
  }

  /** Runs the model on a store in a folder until it finds something. */
  public static final class Search implements BiFunction<Path, Long, Optional<AssertionError>> {
    @Override
    public Optional<AssertionError> apply(Path folder, Long first) {
      try (Store store = EmbeddedStores.open(folder)) {
        FeedHistory history = new FeedHistory(store);
        try (LectusServer server = LiveFeedsModel.start(history.store())) {
          for (long seed = first; seed < first + MAX_SEEDS; seed++) {
            try (LiveFeedsModel model = new LiveFeedsModel(server, history, seed)) {
              model.run();
            } catch (AssertionError found) {
              return Optional.of(found);
            }
          }
        }
      }
      return Optional.empty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_planted_bug_is_found(Bug bug, @TempDir Path folder) throws Exception {
    assertThat(bug.planted.found(Search.class, folder, bug.seed))
        .as("what %s seeds find", MAX_SEEDS)
        .isPresent();
  }
}
