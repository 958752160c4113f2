package lectus.revision;

import java.util.Comparator;
import java.util.Optional;
import lectus.error.LectusException;

/**
 * A revision: its position (generation) and hash, printed {@code position-hash}. Revisions of equal
 * deletedness order by position, then hash; the highest wins (RFC 001).
 */
public record RevisionId(long position, RevisionHash hash) implements Comparable<RevisionId> {
  private static final Comparator<RevisionId> ORDER =
      Comparator.comparingLong(RevisionId::position).thenComparing(RevisionId::hash);

  /**
   * @throws LectusException {@code bad_request}, "Invalid rev format"
   */
  public static RevisionId of(String text) {
    return parse(text).orElseThrow(() -> LectusException.badRequest("Invalid rev format"));
  }

  /** Empty unless the text is a positive integer without leading zeros, a dash, and a hash. */
  public static Optional<RevisionId> parse(String text) {
    int dash = text.indexOf('-');
    if (dash < 1 || dash > 18 || dash == text.length() - 1 || text.charAt(0) == '0') {
      return Optional.empty();
    }
    long position = 0;
    for (int i = 0; i < dash; i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9') {
        return Optional.empty();
      }
      position = position * 10 + (digit - '0');
    }
    long revisionPosition = position;
    return RevisionHash.parse(text.substring(dash + 1))
        .map(hash -> new RevisionId(revisionPosition, hash));
  }

  @Override
  public int compareTo(RevisionId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return position + "-" + hash;
  }
}
