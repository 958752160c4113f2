package lectus.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import lectus.error.LectusException;

/**
 * Finds the parts of a body that comes piece by piece (RFC 2046, section 5.1.1). Each byte is read
 * a bounded number of times, and no more is kept than a delimiter or the headers of a part. Not
 * thread-safe.
 */
public final class PartStream {
  /** Longest headers of a part, in bytes, with their line breaks. */
  static final int MAX_HEADER_BYTES = 8 << 10;

  /** Longest row of blanks behind a delimiter. */
  private static final int MAX_BLANKS = 1_024;

  private static final byte[] LINE_END = {'\r', '\n'};
  private static final byte[] HEADERS_END = {'\r', '\n', '\r', '\n'};
  private static final byte[] CLOSING = {'-', '-'};

  /** Includes the line break before it, which belongs to the delimiter, not to the part. */
  private final byte[] delimiter;

  private final Parts parts;
  private State state = State.PREAMBLE;

  /** The first delimiter may stand at the very beginning. */
  private byte[] bytes = LINE_END;

  private int at;

  /** Receives the parts in their order. What it throws ends the body. */
  public interface Parts {
    /**
     * @param headers as they came, as ISO 8859-1
     */
    void begins(String headers);

    void content(byte[] bytes, int from, int to);

    void ends();

    /** Whether the part that has begun is known to be whole if the body ends with these bytes. */
    default boolean wouldBeWholeWith(int bytes) {
      return false;
    }
  }

  private enum State {
    PREAMBLE,
    HEADERS,
    CONTENT,
    EPILOGUE
  }

  PartStream(String boundary, Parts parts) {
    this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.US_ASCII);
    this.parts = parts;
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException {@code bad_request}: not such a body
   */
  public void take(byte[] next) {
    byte[] all = Arrays.copyOfRange(bytes, at, bytes.length + next.length);
    System.arraycopy(next, 0, all, bytes.length - at, next.length);
    bytes = all;
    at = 0;
    boolean goesOn = true;
    while (goesOn) {
      goesOn =
          switch (state) {
            case PREAMBLE, CONTENT -> findDelimiter();
            case HEADERS -> findContent();
            case EPILOGUE -> false;
          };
    }
    if (state == State.EPILOGUE) {
      at = bytes.length;
    }
  }

  /**
   * The body has ended. As in CouchDB, the closing delimiter may be missing where nothing else can
   * be: behind a part whose length is known.
   *
   * @throws LectusException {@code bad_request}: before its closing delimiter
   */
  public void end() {
    boolean isDelimited = startsWith(delimiter, bytes, at);
    int end = isDelimited ? at : bytes.length;
    if (state == State.CONTENT && parts.wouldBeWholeWith(end - at)) {
      passOn(end);
      close();
      return;
    }
    if (isDelimited) {
      throw lineDoesNotEnd();
    }
    switch (state) {
      case PREAMBLE ->
          throw LectusException.badRequest(
              "The boundary that Content-Type names does not occur in the multipart body.");
      case HEADERS ->
          throw LectusException.badRequest("The multipart body ends inside the headers of a part.");
      case CONTENT ->
          throw LectusException.badRequest(
              "The multipart body ends inside a part, without its closing delimiter.");
      case EPILOGUE -> {}
    }
  }

  private boolean findDelimiter() {
    int found = indexOf(delimiter, bytes, at, bytes.length);
    if (found < 0) {
      // A delimiter may have begun at the end.
      passOn(Math.max(at, bytes.length - delimiter.length + 1));
      return false;
    }
    passOn(found);
    int behind = found + delimiter.length;
    if (bytes.length - behind < CLOSING.length) {
      return false;
    }
    if (startsWith(CLOSING, bytes, behind)) {
      close();
      return false;
    }
    return findLineEnd(behind);
  }

  /** Passes on the content before an offset; the preamble is ignored. */
  private void passOn(int to) {
    if (state == State.CONTENT && to > at) {
      parts.content(bytes, at, to);
    }
    at = to;
  }

  private void close() {
    if (state == State.PREAMBLE) {
      throw LectusException.badRequest("The multipart body has no part.");
    }
    state = State.EPILOGUE;
    parts.ends();
  }

  /** Blanks may follow a delimiter. */
  private boolean findLineEnd(int behind) {
    int end = behind;
    while (end < bytes.length && (bytes[end] == ' ' || bytes[end] == '\t')) {
      end++;
    }
    boolean isShort = bytes.length - end < LINE_END.length && end - behind <= MAX_BLANKS;
    if (!isShort && !startsWith(LINE_END, bytes, end)) {
      throw lineDoesNotEnd();
    }
    if (isShort) {
      return false;
    }
    if (state == State.CONTENT) {
      parts.ends();
    }
    at = end + LINE_END.length;
    state = State.HEADERS;
    return true;
  }

  /** The content comes after an empty line, which is the first one if there are no headers. */
  private boolean findContent() {
    if (startsWith(LINE_END, bytes, at)) {
      return begin(at, at + LINE_END.length);
    }
    int limit = Math.min(bytes.length, at + MAX_HEADER_BYTES);
    int end = indexOf(HEADERS_END, bytes, at, limit);
    if (end >= 0) {
      return begin(end, end + HEADERS_END.length);
    }
    if (limit < bytes.length) {
      throw LectusException.badRequest(
          "The headers of a part exceed " + MAX_HEADER_BYTES + " bytes.");
    }
    return false;
  }

  private boolean begin(int headersEnd, int content) {
    state = State.CONTENT;
    String headers = new String(bytes, at, headersEnd - at, StandardCharsets.ISO_8859_1);
    at = content;
    parts.begins(headers);
    return true;
  }

  private static boolean startsWith(byte[] wanted, byte[] body, int at) {
    return body.length - at >= wanted.length
        && Arrays.equals(body, at, at + wanted.length, wanted, 0, wanted.length);
  }

  /** Returns a negative number if {@code wanted} does not occur before {@code end}. */
  private static int indexOf(byte[] wanted, byte[] body, int from, int end) {
    for (int at = from; at <= end - wanted.length; at++) {
      if (body[at] == wanted[0] && startsWith(wanted, body, at)) {
        return at;
      }
    }
    return -1;
  }

  private static LectusException lineDoesNotEnd() {
    return LectusException.badRequest(
        "Behind a delimiter of the multipart body its line has to end.");
  }
}
