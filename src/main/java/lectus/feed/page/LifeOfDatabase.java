package lectus.feed.page;

import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** Reads what may be gone by now. */
final class LifeOfDatabase {
  private LifeOfDatabase() {}

  /**
   * @param reading of one life of a database
   * @param whenOver what there is instead when that life is over, or its shard is gone
   */
  static <T> T read(Supplier<T> reading, Supplier<T> whenOver) {
    try {
      return reading.get();
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.NotFound) {
        return whenOver.get();
      }
      throw e;
    }
  }
}
