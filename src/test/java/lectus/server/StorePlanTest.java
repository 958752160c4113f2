package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StorePlanTest {
  private static final long MIB = 1L << 20;

  @ParameterizedTest
  @CsvSource({
    "256, 16000, 192, 36",
    "384, 16000, 192, 36",
    "512, 16000, 256, 48",
    "512, 1024, 170, 31",
    "512, 400, 64, 16",
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

    assertThat(plan.with(0, 0, 0)).isEqualTo(plan);
    assertThat(plan.with(320 * MIB, 0, 0).memtable()).isEqualTo(60 * MIB);
    assertThat(plan.with(16 * MIB, 0, 0).memtable()).isEqualTo(4 * MIB);
    assertThat(plan.with(16 * MIB, 0, 0).isPossible()).isTrue();
    assertThat(plan.with(320 * MIB, 80 * MIB, 99))
        .isEqualTo(new StorePlan(320 * MIB, 80 * MIB, 99));
    assertThat(plan.with(320 * MIB, 80 * MIB, 0).isPossible()).isTrue();
    assertThat(plan.with(320 * MIB, 80 * MIB + 1, 0).isPossible()).isFalse();
  }
}
