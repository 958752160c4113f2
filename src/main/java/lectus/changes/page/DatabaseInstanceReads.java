package lectus.changes.page;

import java.util.function.Supplier;
import lectus.error.LectusError;
import lectus.error.LectusException;

/** Reads from a life of a database that may be over. */
final class DatabaseInstanceReads {
  private DatabaseInstanceReads() {}

  /**
   * @param reading reads one life of a database
   * @param whenOver replaces the result if that life is over, or its shard is gone
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
