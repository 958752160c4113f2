package lectus.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import lectus.store.Store;
import lectus.store.contract.model.ModelRun;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares random interleavings of transactions with a naive model. {@code lectus.test.model.seed}
 * repeats a run, {@code lectus.test.model.steps} sets its length.
 */
class ModelTest {
  private static final int STEPS = Integer.getInteger("lectus.test.model.steps", 8_000);

  @RegisterExtension static final TestStores stores = new TestStores();

  @ParameterizedTest
  @MethodSource("seeds")
  void the_store_does_what_the_model_does(long seed) {
    Store store = stores.fresh();
    ModelRun run = new ModelRun(store.database(), store.rootPrefix(), seed);
    run.run(STEPS);
    assertThat(run.won()).isGreaterThan(STEPS / 50);
    assertThat(run.lost()).isGreaterThan(STEPS / 1_000);
  }

  static LongStream seeds() {
    Long seed = Long.getLong("lectus.test.model.seed");
    return seed != null
        ? LongStream.of(seed)
        : LongStream.of(0, 1, 2, ThreadLocalRandom.current().nextLong());
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 10, 200})
  void the_ring_stays_one_ring(int nodes) throws Exception {
    Store store = stores.fresh();
    CycleRun cycle = new CycleRun(store.database(), store.rootPrefix(), nodes);
    cycle.setUp();
    assertThat(cycle.run(8, 100, nodes)).isTrue();
  }
}
