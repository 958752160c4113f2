package lectus.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineTest {
  private static final long MIB = 1L << 20;

  /** With the share of the heap that conf/jvm.options has. */
  @ParameterizedTest
  @CsvSource({
    "256,102,64,90,false",
    "320,128,64,128,true",
    "384,153,76,155,true",
    "512,204,102,206,true",
    "768,307,153,308,true",
    "1024,409,204,411,true",
    "1536,614,307,615,true",
    "2048,819,409,820,true",
    "4096,1638,819,1639,true",
    "65536,26214,13107,26215,true"
  })
  void heap_and_store_leave_what_else_is_needed_in_a_container_of_any_size(
      long container, long heap, long store, long left, boolean fits) {
    Machine machine = new Machine(container * MIB * 40 / 100, container * MIB, 2, 65_536);
    List<String> division =
        new Settings(Configuration.of(null, Map.of(), Map.of()), machine).division();

    assertThat(division.get(0))
        .isEqualTo(
            "Memory: %d MB heap, %d MB store, %d MB for all else (functions up to 704 MB), of %d MB"
                .formatted(heap, store, left, container));
    assertThat(division).hasSize(fits ? 1 : 2);
  }

  @ParameterizedTest
  @CsvSource({
    "256,store,foundationdb,1",
    "512,store.cache-bytes,188743680,1",
    "512,store.cache-bytes,189792256,2"
  })
  void what_is_chosen_counts(long container, String key, String value, int sentences) {
    Machine machine = new Machine(container * MIB * 40 / 100, container * MIB, 2, 65_536);
    Configuration chosen = Configuration.of(null, Map.of(), Map.of(key, value));

    assertThat(new Settings(chosen, machine).division()).hasSize(sentences);
  }
}
