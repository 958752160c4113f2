package lectus.feed;

import java.nio.charset.StandardCharsets;
import lectus.json.JsonBuffer;

/** What surrounds the rows of a feed, byte for byte CouchDB's. */
public final class FeedText {
  private static final byte[] HEAD = ascii("{\"results\":[\n");
  private static final byte[] SEPARATOR = ascii(",\r\n");
  private static final byte[] TAIL = ascii("\n],\n\"last_seq\":");
  private static final byte[] LAST_LINE = ascii("{\"last_seq\":");
  private static final byte[] PENDING = ascii(",\"pending\":");
  private static final byte[] END = ascii("}\n");

  private FeedText() {}

  /** What stands before the rows of a normal feed or a long poll. */
  public static void appendHead(JsonBuffer out) {
    out.raw(HEAD);
  }

  /** What stands between two rows of an array. */
  public static void appendSeparator(JsonBuffer out) {
    out.raw(SEPARATOR);
  }

  /** What stands behind the rows of a normal feed or a long poll. */
  public static void appendTail(ResumePoint<?> last, long pending, JsonBuffer out) {
    appendLast(out.raw(TAIL), last, pending);
  }

  /** The line that ends a continuous feed. */
  public static void appendLastLine(ResumePoint<?> last, long pending, JsonBuffer out) {
    appendLast(out.raw(LAST_LINE), last, pending);
  }

  private static void appendLast(JsonBuffer out, ResumePoint<?> last, long pending) {
    out.string(last.text());
    if (last.tellsPending()) {
      out.raw(PENDING).number(pending);
    }
    out.raw(END);
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
