package lectus.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineTest {
  private static final long MIB = 1L << 20;

  /**
   * Returns a container whose heap is that of conf/jvm.options: the smaller share where it is less
   * than the heap that a JVM has by default, which is 96 MB and three tenths.
   */
  private static Machine container(long megabytes) {
    long small = megabytes * 25 / 100;
    long heap = (small < 125 ? small : megabytes * 40 / 100) * MIB;
    return new Machine(heap, megabytes * MIB, 2, 65_536);
  }

  @ParameterizedTest
  @CsvSource({
    "192,48,32,0,0,112,false",
    "256,64,32,0,0,160,true",
    "320,80,32,0,0,208,true",
    "384,96,32,96,1,160,true",
    "512,204,32,116,1,160,true",
    "768,307,109,192,1,160,true",
    "1024,409,204,248,2,163,true",
    "1536,614,307,448,2,167,true",
    "2048,819,409,648,3,172,true",
    "4096,1638,819,1280,4,359,true",
    "65536,26214,13107,1280,4,24935,true"
  })
  void heap_and_store_leave_what_else_is_needed_in_a_container_of_any_size(
      long container,
      long heap,
      long store,
      long functions,
      int children,
      long left,
      boolean fits) {
    Settings settings =
        new Settings(Configuration.of(null, Map.of(), Map.of()), container(container));
    List<String> division = settings.division();

    assertThat(division.get(0))
        .isEqualTo(
            "Memory: %d MB heap, %d MB store, %d MB functions (%d child processes), %d MB for all else, of %d MB"
                .formatted(heap, store, functions, children, left, container));
    assertThat(division).hasSize(1 + (fits ? 0 : 1) + (children > 0 ? 0 : 1));
  }

  @ParameterizedTest
  @CsvSource({
    "256,store,foundationdb,2",
    "512,store.cache-bytes,155189248,2",
    "512,store.cache-bytes,156237824,3",
    "320,scripts.heap-megabytes,16,2"
  })
  void what_is_chosen_counts(long container, String key, String value, int sentences) {
    Configuration chosen = Configuration.of(null, Map.of(), Map.of(key, value));

    assertThat(new Settings(chosen, container(container)).division()).hasSize(sentences);
  }
}
