package lectus.http.multipart;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.message.MediaType;

/**
 * A document in the form {@code multipart/related}: its JSON is the first part, its attachments are
 * the others (RFC 2046, section 5.1.1). Parsing is linear: each byte of the body is read a bounded
 * number of times.
 */
public final class RelatedDocument {
  /** Longest headers of a part, in bytes, with their line breaks. */
  static final int MAX_HEADER_BYTES = 8 << 10;

  private static final String MEDIA_TYPE = "multipart/related";
  private static final String JSON = "application/json";
  private static final byte[] LINE_END = {'\r', '\n'};
  private static final byte[] HEADERS_END = {'\r', '\n', '\r', '\n'};
  private static final byte[] CLOSING = {'-', '-'};

  /** RFC 2046: 1 to 70 of these characters, the last one not a space. */
  private static final Pattern BOUNDARY =
      Pattern.compile("[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]");

  /** A line break within a header (RFC 822, section 3.1.1). */
  private static final Pattern FOLD = Pattern.compile("\r\n(?=[ \t])");

  /** Includes the line break before it, which belongs to the delimiter, not to the part. */
  private final byte[] delimiter;

  private RelatedDocument(String boundary) {
    delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * @param contentType of the request; null if there is none
   * @return empty for another type
   * @throws LectusException {@code bad_request}: no boundary, or one that RFC 2046 does not allow
   */
  public static Optional<RelatedDocument> in(String contentType) {
    if (!MediaType.isNamed(MEDIA_TYPE, contentType)) {
      return Optional.empty();
    }
    String boundary = MediaType.parse(contentType).parameters().get("boundary");
    if (boundary == null || !BOUNDARY.matcher(boundary).matches()) {
      throw LectusException.badRequest(
          "The Content-Type " + MEDIA_TYPE + " needs a boundary of 1 to 70 characters.");
    }
    return Optional.of(new RelatedDocument(boundary));
  }

  /**
   * Returns the JSON of a document without attachments.
   *
   * @throws LectusException {@code bad_request}: not such a multipart body; {@code
   *     bad_content_type} (415): its first part is not JSON; {@code not_implemented} (501): it has
   *     more parts
   */
  public byte[] json(byte[] body) {
    int headers = firstPart(body);
    int content = endOfHeaders(body, headers);
    checkJson(new String(body, headers, content - headers, StandardCharsets.ISO_8859_1));
    int end = indexOf(delimiter, body, content, body.length);
    if (end < 0) {
      throw malformed("The multipart body ends inside a part, without its closing delimiter.");
    }
    checkLast(body, end + delimiter.length);
    return Arrays.copyOfRange(body, content, end);
  }

  /** Returns where the first part begins. The preamble before its delimiter is ignored. */
  private int firstPart(byte[] body) {
    int withoutLineEnd = delimiter.length - LINE_END.length;
    boolean atOnce =
        body.length >= withoutLineEnd
            && Arrays.equals(body, 0, withoutLineEnd, delimiter, LINE_END.length, delimiter.length);
    int found = atOnce ? 0 : indexOf(delimiter, body, 0, body.length);
    if (found < 0) {
      throw malformed("The boundary that Content-Type names does not occur in the multipart body.");
    }
    int behind = found + (atOnce ? withoutLineEnd : delimiter.length);
    if (startsWith(CLOSING, body, behind)) {
      throw malformed("The multipart body has no part.");
    }
    return behindLineEnd(body, behind);
  }

  /** Blanks may follow a delimiter. */
  private static int behindLineEnd(byte[] body, int from) {
    int at = from;
    while (at < body.length && (body[at] == ' ' || body[at] == '\t')) {
      at++;
    }
    if (!startsWith(LINE_END, body, at)) {
      throw malformed("Behind a delimiter of the multipart body its line has to end.");
    }
    return at + LINE_END.length;
  }

  /**
   * Returns where the content begins: after an empty line, which is the first one if there are no
   * headers.
   */
  private static int endOfHeaders(byte[] body, int from) {
    if (startsWith(LINE_END, body, from)) {
      return from + LINE_END.length;
    }
    int limit = Math.min(body.length, from + MAX_HEADER_BYTES);
    int end = indexOf(HEADERS_END, body, from, limit);
    if (end < 0 && limit < body.length) {
      throw malformed("The headers of a part exceed " + MAX_HEADER_BYTES + " bytes.");
    }
    if (end < 0) {
      throw malformed("The multipart body ends inside the headers of a part.");
    }
    return end + HEADERS_END.length;
  }

  private static void checkJson(String headers) {
    String contentType = null;
    for (String line : FOLD.matcher(headers.stripTrailing()).replaceAll("").split("\r\n")) {
      int colon = line.indexOf(':');
      if (colon < 0 && !line.isEmpty()) {
        throw malformed("bad part header");
      }
      String name = line.substring(0, Math.max(colon, 0)).strip().toLowerCase(Locale.ROOT);
      if (name.equals("content-type")) {
        contentType = line.substring(colon + 1);
      }
    }
    if (!MediaType.isNamed(JSON, contentType)) {
      throw new LectusException(
          new LectusError.UnsupportedMediaType("Content-Type must be " + JSON));
    }
  }

  /** The epilogue after the closing delimiter is ignored. */
  private static void checkLast(byte[] body, int from) {
    if (!startsWith(CLOSING, body, from)) {
      behindLineEnd(body, from);
      throw new LectusException(
          new LectusError.NotImplemented(
              "Attachments are not supported yet, so the document was not stored."));
    }
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

  private static LectusException malformed(String reason) {
    return LectusException.badRequest(reason);
  }
}
