package lectus.revision;

import java.util.Comparator;
import java.util.Optional;
import lectus.error.LectusException;

/**
 * A revision: its position (generation) and hash, printed {@code position-hash}. Live revisions,
 * and likewise deleted ones, are ordered by position, then by hash; the highest wins (RFC 001).
 */
public record RevisionId(long position, RevisionHash hash) implements Comparable<RevisionId> {
  /** Eighteen digits, so that a child's position never overflows. */
  public static final long MAX_POSITION = 999_999_999_999_999_999L;

  private static final Comparator<RevisionId> ORDER =
      Comparator.comparingLong(RevisionId::position).thenComparing(RevisionId::hash);

  /**
   * @throws LectusException {@code bad_request}, "Invalid rev format"
   */
  public static RevisionId of(String text) {
    return parse(text).orElseThrow(() -> LectusException.badRequest("Invalid rev format"));
  }

  /**
   * Returns the revision; empty unless the text is an integer, a dash, and a hash, which may be
   * empty. As in CouchDB, the integer may have leading zeros and a plus sign: {@code 007-a} is
   * {@code 7-a}.
   */
  public static Optional<RevisionId> parse(String text) {
    int dash = text.indexOf('-');
    int first = dash > 1 && text.charAt(0) == '+' ? 1 : 0;
    if (dash <= first) {
      return Optional.empty();
    }
    long position = 0;
    for (int i = first; i < dash; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9 || position > (MAX_POSITION - digit) / 10) {
        return Optional.empty();
      }
      position = 10 * position + digit;
    }
    long revisionPosition = position;
    return RevisionHash.parse(text.substring(dash + 1), position)
        .map(hash -> new RevisionId(revisionPosition, hash));
  }

  @Override
  public int compareTo(RevisionId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return position + "-" + hash.text(position);
  }
}
