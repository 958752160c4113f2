package lectus.http.document;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.error.LectusException;

/**
 * Which bytes of an attachment a request brings: {@code bytes 0-999/5000}, or none of them, {@code
 * bytes *}{@code /5000}.
 *
 * @param from offset of the first byte
 * @param length 0 for none
 * @param total length of the attachment
 */
record ContentRange(long from, long length, long total) {
  private static final String NUMBER = "(\\d{1,18})";
  private static final Pattern SOME =
      Pattern.compile("bytes " + NUMBER + "-" + NUMBER + "/" + NUMBER);
  private static final Pattern NONE = Pattern.compile("bytes \\*/" + NUMBER);

  /**
   * @param header null if there is none
   * @throws LectusException {@code bad_request}
   */
  static ContentRange of(String header) {
    String text = header == null ? "" : header.strip();
    Matcher none = NONE.matcher(text);
    if (none.matches() && Long.parseLong(none.group(1)) > 0) {
      long total = Long.parseLong(none.group(1));
      return new ContentRange(total, 0, total);
    }
    Matcher some = SOME.matcher(text);
    if (!some.matches()) {
      throw malformed();
    }
    long from = Long.parseLong(some.group(1));
    long last = Long.parseLong(some.group(2));
    long total = Long.parseLong(some.group(3));
    if (last < from || last >= total) {
      throw malformed();
    }
    return new ContentRange(from, last - from + 1, total);
  }

  private static LectusException malformed() {
    return LectusException.badRequest(
        "A piece of an upload needs Content-Range: bytes FIRST-LAST/TOTAL, or bytes */TOTAL.");
  }
}
