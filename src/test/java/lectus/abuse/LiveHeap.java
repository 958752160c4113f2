package lectus.abuse;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The objects that a process still holds after a garbage collection, by {@code jcmd
 * GC.class_histogram}.
 *
 * @param instances by the name of their class
 */
public record LiveHeap(long bytes, Map<String, Long> instances) {

  static LiveHeap parse(Stream<String> histogram) {
    Map<String, Long> instances = new HashMap<>();
    long[] bytes = new long[1];
    histogram
        .map(line -> line.trim().split("\\s+"))
        .filter(words -> words.length >= 3)
        .forEach(
            words -> {
              if (words[0].equals("Total")) {
                bytes[0] = Long.parseLong(words[2]);
              } else if (words[0].endsWith(":") && words.length >= 4) {
                words[0] = "";
                if (words[1].matches("[0-9]+")) {
                  instances.merge(words[3], Long.parseLong(words[1]), Long::sum);
                }
              }
            });
    if (bytes[0] == 0) {
      throw new IllegalStateException("No histogram");
    }
    return new LiveHeap(bytes[0], instances);
  }

  /**
   * Returns the number of iterators, which hold native memory and files; the engine references each
   * open one.
   */
  public long openIterators() {
    return instances.getOrDefault("lectus.store.embedded.engine.IteratorPool$BoundedIterator", 0L);
  }
}
