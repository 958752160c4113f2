package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The shares of the heap leave enough of it. */
final class MemoryPlanTest {
  private static final long MB = 1 << 20;

  @ParameterizedTest
  @CsvSource({"256,1", "256,2", "512,2", "512,64", "4096,1", "4096,16", "65536,64"})
  void a_fifth_of_the_heap_is_given_to_nobody(long heapMegabytes, int executors) {
    long heap = heapMegabytes * MB;
    MemoryPlan plan = MemoryPlan.of(heap, executors);

    assertThat(plan.heap(executors)).isBetween(heap / 2, heap - heap / 5);
    assertThat(plan.longestBody()).isLessThanOrEqualTo(MemoryPlan.HEAP_OF_BODY * plan.bodies() / 2);
    assertThat(plan.mostConnections()).isPositive();
  }

  /** Whatever they read. */
  @ParameterizedTest
  @CsvSource({"256,2", "512,4", "1024,8", "4096,34"})
  void readers_make_their_pages_in_what_is_given_to_nobody(long heapMegabytes, int readers) {
    long heap = heapMegabytes * MB;
    long largestPage = 24 * MB;

    assertThat(MemoryPlan.mostReaders(heap)).isEqualTo(readers);
    assertThat(readers * largestPage).isLessThanOrEqualTo(heap - MemoryPlan.of(heap, 1).heap(1));
  }

  @ParameterizedTest
  @CsvSource({"0,0,0", "1,2,3"})
  void an_administrator_may_choose(long bodies, long hotDocuments, long queuedWrites) {
    MemoryPlan plan = MemoryPlan.of(512 * MB, 2);
    MemoryPlan chosen = plan.with(bodies, hotDocuments, queuedWrites);

    assertThat(chosen.bodies()).isEqualTo(bodies == 0 ? plan.bodies() : bodies);
    assertThat(chosen.hotDocuments()).isEqualTo(hotDocuments == 0 ? plan.hotDocuments() : 2);
    assertThat(chosen.queuedWrites()).isEqualTo(queuedWrites == 0 ? plan.queuedWrites() : 3);
    assertThat(chosen.pages()).isEqualTo(plan.pages());
  }
}
