package lectus.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusError;
import lectus.error.LectusException;

/**
 * The parts of a body that a client asks for (RFC 9110, section 14), as CouchDB takes them: a
 * malformed range, one that begins at the first byte without an end, and many at once stand for the
 * whole.
 *
 * @param all none for the whole body
 * @param satisfiable whether all of them are in the body
 */
public record ByteRanges(List<Part> all, boolean satisfiable) {
  private static final ByteRanges WHOLE = new ByteRanges(List.of(), true);
  private static final String UNIT = "bytes=";

  /** CouchDB sends the whole if a client asks for so many parts. */
  private static final int TOO_MANY = 10;

  /** Longer numbers are no positions. */
  private static final int MAX_DIGITS = 18;

  /**
   * @param end offset behind the last byte
   */
  public record Part(long from, long end) {
    public long length() {
      return end - from;
    }

    public String contentRange(long total) {
      return "bytes " + from + '-' + (end - 1) + '/' + total;
    }
  }

  /**
   * @param header the value of {@code Range}; null if there is none
   * @param length of the whole body
   * @throws LectusException {@code requested_range_not_satisfiable} (416)
   */
  public static ByteRanges of(String header, long length) {
    ByteRanges ranges = parse(header, length);
    if (!ranges.satisfiable()) {
      throw new LectusException(new LectusError.RangeNotSatisfiable(length));
    }
    return ranges;
  }

  private static ByteRanges parse(String header, long length) {
    if (header == null || !header.startsWith(UNIT)) {
      return WHOLE;
    }
    List<Part> parts = new ArrayList<>();
    boolean satisfiable = true;
    for (String range : header.substring(UNIT.length()).split(",", -1)) {
      Optional<Part> part = part(range.strip(), length);
      if (part.isEmpty() || parts.size() == TOO_MANY) {
        return WHOLE;
      }
      satisfiable &= part.get().length() > 0;
      parts.add(part.get());
    }
    return parts.size() < TOO_MANY ? new ByteRanges(parts, satisfiable) : WHOLE;
  }

  private static Optional<Part> part(String range, long length) {
    int hyphen = range.indexOf('-');
    String from = hyphen < 0 ? "" : range.substring(0, hyphen).strip();
    String to = hyphen < 0 ? "" : range.substring(hyphen + 1).strip();
    boolean isRange =
        hyphen >= 0 && isNumber(from) && isNumber(to) && !(from.isEmpty() && to.isEmpty());
    if (!isRange || (from.equals("0") && to.isEmpty())) {
      return Optional.empty();
    }
    if (from.isEmpty()) {
      return Optional.of(new Part(Math.max(0, length - Long.parseLong(to)), length));
    }
    long end = to.isEmpty() ? length : Math.min(length, Long.parseLong(to) + 1);
    return Optional.of(new Part(Long.parseLong(from), end));
  }

  private static boolean isNumber(String text) {
    return text.length() <= MAX_DIGITS && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
