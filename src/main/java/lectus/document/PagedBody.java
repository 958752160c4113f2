package lectus.document;

import lectus.error.LectusException;
import lectus.json.JsonBuffer;

/**
 * The body of an answer that may be longer than one transaction can read: made part by part, each
 * part at a read version of its own. For one thread at a time.
 */
public interface PagedBody {
  /**
   * Appends the next part, some hundred kilobytes at most unless a single row is longer. What
   * stands in the buffer already stays.
   *
   * @return whether there is more
   * @throws LectusException when the answer cannot go on; what this call appended is void then
   */
  boolean appendNext(JsonBuffer out);
}
