package lectus.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import lectus.store.Store;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Serializability under real concurrency. */
class CycleTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  @ParameterizedTest
  @ValueSource(ints = {4, 10, 200})
  void the_ring_stays_one_ring(int nodes) throws Exception {
    Store store = stores.fresh();
    CycleRun cycle = new CycleRun(store.database(), store.rootPrefix(), nodes);
    cycle.setUp();
    assertThat(cycle.run(8, 100, nodes)).isTrue();
  }
}
