package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StorePlanTest {
  private static final long MIB = 1L << 20;
  private static final long MB = 1 << 20;

  @ParameterizedTest
  @CsvSource({
    "256, 16000, 192, 36",
    "384, 16000, 192, 36",
    "512, 16000, 256, 48",
    "512, 1024, 160, 30",
    "512, 400, 32, 8",
    "512, 820, 32, 8",
    "512, 960, 96, 18",
    "6000, 24000, 3000, 128",
    "16000, 24000, 2666, 128",
  })
  void follows_from_the_heap_and_the_machine(long heap, long machine, long cache, long memtable) {
    StorePlan plan = StorePlan.of(heap * MIB, machine * MIB, 1_024);

    assertThat(plan.cache() / MIB).isEqualTo(cache);
    assertThat(plan.memtable() / MIB).isEqualTo(memtable);
    assertThat(plan.isPossible()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"100, 64", "256, 64", "260, 65", "16384, 4096", "1000000, 4096"})
  void has_a_quarter_of_the_descriptors(long descriptors, int files) {
    assertThat(StorePlan.of(512 * MIB, 4_096 * MIB, descriptors).openFiles()).isEqualTo(files);
  }

  @Test
  void memtables_follow_from_a_chosen_cache() {
    StorePlan plan = StorePlan.of(512 * MIB, 4_096 * MIB, 1_024);

    assertThat(plan.with(0, 0)).isEqualTo(plan);
    assertThat(plan.with(320 * MIB, 0).memtable()).isEqualTo(60 * MIB);
    assertThat(plan.with(16 * MIB, 0).memtable()).isEqualTo(4 * MIB);
    assertThat(plan.with(16 * MIB, 0).isPossible()).isTrue();
    assertThat(plan.with(320 * MIB, 80 * MIB))
        .isEqualTo(new StorePlan(320 * MIB, 80 * MIB, plan.openFiles()));
    assertThat(plan.with(320 * MIB, 80 * MIB).isPossible()).isTrue();
    assertThat(plan.with(320 * MIB, 80 * MIB + 1).isPossible()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"256,1", "256,2", "512,2", "512,64", "4096,1", "4096,16", "65536,64"})
  void a_fifth_of_the_heap_is_given_to_nobody(long heapMegabytes, int executors) {
    long heap = heapMegabytes * MB;
    MemoryPlan plan = MemoryPlan.of(heap, executors, 0, 0);

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
    assertThat(readers * largestPage)
        .isLessThanOrEqualTo(heap - MemoryPlan.of(heap, 1, 0, 0).heap(1));
  }

  @ParameterizedTest
  @CsvSource({"0,0", "1,2"})
  void an_administrator_may_choose(long bodies, long hotDocuments) {
    MemoryPlan plan = MemoryPlan.of(512 * MB, 2, 0, 0);
    MemoryPlan chosen = MemoryPlan.of(512 * MB, 2, bodies, hotDocuments);

    assertThat(chosen.bodies()).isEqualTo(bodies == 0 ? plan.bodies() : bodies);
    assertThat(chosen.hotDocuments()).isEqualTo(hotDocuments == 0 ? plan.hotDocuments() : 2);
    assertThat(chosen.pages()).isEqualTo(plan.pages());
  }
}
