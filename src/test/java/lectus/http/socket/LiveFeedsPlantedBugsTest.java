package lectus.http.socket;

import static org.assertj.core.api.Assertions.fail;

import java.util.Arrays;
import lectus.database.DatabaseSubspace;
import lectus.http.testing.LectusServer;
import lectus.store.FaultyStore;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The model of live feeds finds bugs: it fails on a store that loses what feeds rest on. */
final class LiveFeedsPlantedBugsTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final int MAX_SEEDS = 50;

  /** What is lost. */
  private enum Bug {
    /** The places where documents have left: only what reads channels alone hears of them. */
    DEPARTURES(DatabaseSubspace.FEED_ENTRIES, 2, 0x02, 0x00, 0x15, 0x01),
    /** When stored feeds were removed: readers take what the next one has for a continuation. */
    REMOVALS_OF_FEEDS(DatabaseSubspace.NUMBERS, 2, 0x02);

    private final DatabaseSubspace subspace;
    private final int skipped;
    private final byte[] next;

    Bug(DatabaseSubspace subspace, int skipped, int... next) {
      this.subspace = subspace;
      this.skipped = skipped;
      this.next = new byte[next.length];
      for (int i = 0; i < next.length; i++) {
        this.next[i] = (byte) next[i];
      }
    }

    boolean loses(FaultyStore.Operation operation, FeedHistory history) {
      byte[] key = history.below(operation.key(), subspace);
      return operation.method().equals("mutate")
          && key.length >= skipped + next.length
          && Arrays.equals(key, skipped, skipped + next.length, next, 0, next.length);
    }
  }

  @ParameterizedTest
  @EnumSource(Bug.class)
  void a_planted_bug_is_found(Bug bug) {
    FaultyStore faulty = new FaultyStore(stores.fresh());
    FeedHistory history = new FeedHistory(faulty.store());
    faulty.lose(operation -> bug.loses(operation, history));
    try (LectusServer server = LectusServer.start(history.store())) {
      for (long seed = 1; seed <= MAX_SEEDS; seed++) {
        try (LiveFeedsModel model = new LiveFeedsModel(server, history, seed)) {
          model.run();
        } catch (AssertionError found) {
          return;
        }
      }
    }
    fail("Nothing was found in %d seeds", MAX_SEEDS);
  }
}
