package lectus.http.changes;

import java.util.stream.LongStream;
import lectus.audit.testing.SoundStore;
import lectus.http.testing.LectusServer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Live feeds lose no row, bring none twice and none out of order. */
final class LiveFeedsModelTest {
  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private static FeedHistory history;
  private static LectusServer server;

  @BeforeAll
  static void start() {
    history = new FeedHistory(stores.fresh());
    server = LiveFeedsModel.start(history.store());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  static LongStream seeds() {
    long first = Long.getLong("lectus.test.seed", 1);
    return LongStream.range(first, first + Integer.getInteger("lectus.test.feed-seeds", 4));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  @Timeout(120)
  void every_row_is_told_once_and_in_order(long seed) {
    try (LiveFeedsModel model = new LiveFeedsModel(server, history, seed)) {
      model.run();
    }
  }
}
