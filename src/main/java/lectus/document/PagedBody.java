package lectus.document;

import java.util.List;
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

  /** The answers to several queries in one: {@code {"results":[…,…]}}, with CouchDB's line ends. */
  final class Combined implements PagedBody {
    private final List<? extends PagedBody> bodies;
    private int current;
    private boolean hasBegun;
    private boolean isWithin;

    /**
     * @param bodies each up to its closing brace
     */
    public Combined(List<? extends PagedBody> bodies) {
      this.bodies = bodies;
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      int before = out.length();
      if (!hasBegun) {
        out.ascii("{\"results\":[");
      }
      if (current < bodies.size()) {
        if (!isWithin) {
          out.ascii(current == 0 ? "\r\n" : ",\r\n");
        }
        try {
          isWithin = bodies.get(current).appendNext(out);
        } catch (RuntimeException failure) {
          out.truncate(before);
          throw failure;
        }
        current += isWithin ? 0 : 1;
      }
      hasBegun = true;
      boolean more = current < bodies.size();
      if (!more) {
        out.ascii("\r\n]}\n");
      }
      return more;
    }
  }

  /** Returns the answer to one query alone, which ends with a line feed. */
  static PagedBody alone(PagedBody body) {
    return out -> {
      boolean more = body.appendNext(out);
      if (!more) {
        out.octet('\n');
      }
      return more;
    };
  }
}
