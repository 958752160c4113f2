package lectus.document;

import lectus.error.LectusException;
import lectus.json.JsonBuffer;

/**
 * The body of an answer that may be longer than one transaction can read. It is produced in parts,
 * each at its own read version. Not thread-safe.
 */
public interface PagedBody {
  /**
   * Appends the next part: a few hundred kilobytes at most, unless a single row is longer. The
   * buffer's earlier content is kept.
   *
   * @return whether there is more
   * @throws LectusException when the answer cannot go on; whatever this call appended is then void
   */
  boolean appendNext(JsonBuffer out);

  /**
   * No further part is asked for, although there may be more. May wait for the store, and may be
   * called while a part is being made.
   */
  default void abandon() {}

  /** Returns for how long the next part should wait, because others have more urgent work. */
  default long pauseMillis() {
    return 0;
  }

  /** Returns how many bytes of the parts to come it holds in memory. */
  default long keptBytes() {
    return 0;
  }
}
