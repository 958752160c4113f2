package lectus.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;

/**
 * The raw request URI, split as in CouchDB: names lie between slashes, each is decoded once, empty
 * ones are skipped. Nothing is normalized, so {@code .} and {@code a/b} (as {@code a%2Fb}) are
 * ordinary document ids. A {@code +} is a space, unless paths keep theirs.
 *
 * @param segments the decoded names
 * @param illegible how many names there are up to the last that is not UTF-8; 0 if all are. Bytes
 *     that are not are replaced by U+FFFD, and such a name must not be taken for a database's or a
 *     document's
 * @param path the raw path, for the log
 * @param query the raw text after the question mark, empty if there is none
 */
public record RequestTarget(List<String> segments, int illegible, String path, String query) {
  private static final int NO_BYTE_OF_UTF8 = 0xff;

  private static final int HEXADECIMAL = 16;

  /**
   * @param uri as in the request line, one char per byte, in origin, absolute or asterisk form
   * @param decodesPlus whether a plus sign in the path is a space
   * @throws LectusException {@code bad_request}: another form (RFC 9112, section 3.2), or a percent
   *     sign without two hex digits
   */
  public static RequestTarget parse(String uri, boolean decodesPlus) {
    checkPercents(uri);
    String target = uri.startsWith("/") ? uri : ofOtherForm(uri);
    int question = target.indexOf('?');
    String path = question < 0 ? target : target.substring(0, question);
    String query = question < 0 ? "" : target.substring(question + 1);
    return ofNames(split(path), path, query, decodesPlus);
  }

  private static RequestTarget ofNames(
      List<String> encoded, String path, String query, boolean decodesPlus) {
    List<String> names = new ArrayList<>(encoded.size());
    int illegible = 0;
    for (String name : encoded) {
      if (isPlain(name, 0, name.length())) {
        names.add(name);
      } else {
        ByteBuffer bytes = decodedBytes(name, 0, name.length(), decodesPlus);
        Optional<String> decoded = utf8(bytes);
        names.add(decoded.orElseGet(() -> StandardCharsets.UTF_8.decode(bytes).toString()));
        illegible = decoded.isPresent() ? illegible : names.size();
      }
    }
    return new RequestTarget(names, illegible, path, query);
  }

  /** Whether the names from this one on are UTF-8. */
  public boolean isUtf8From(int index) {
    return illegible <= index;
  }

  /**
   * Returns the text between the scheme and the path of a URI in absolute form (RFC 9112, section
   * 3.2.2); empty for other forms.
   */
  public static Optional<String> authority(String uri) {
    int scheme = uri.startsWith("/") ? -1 : uri.indexOf("://");
    if (scheme < 0) {
      return Optional.empty();
    }
    int slash = uri.indexOf('/', scheme + 3);
    return Optional.of(uri.substring(scheme + 3, slash < 0 ? uri.length() : slash));
  }

  /** Returns what may be shown of a target that need not be legal: no query and no credentials. */
  public static String visible(String uri) {
    int question = uri.indexOf('?');
    String start = question < 0 ? uri : uri.substring(0, question);
    if (start.startsWith("/")) {
      return start;
    }
    int scheme = start.indexOf("://");
    int slash = scheme < 0 ? -1 : start.indexOf('/', scheme + 3);
    return slash < 0 ? start.substring(start.lastIndexOf('@') + 1) : start.substring(slash);
  }

  private static String ofOtherForm(String uri) {
    int scheme = uri.indexOf("://");
    if (scheme < 0 && !uri.equals("*")) {
      throw LectusException.badRequest("The request's target is no path.");
    }
    int slash = scheme < 0 ? -1 : uri.indexOf('/', scheme + 3);
    return slash < 0 ? "/" : uri.substring(slash);
  }

  private static List<String> split(String path) {
    List<String> names = new ArrayList<>(4);
    int start = 0;
    while (start < path.length()) {
      int slash = path.indexOf('/', start);
      int end = slash < 0 ? path.length() : slash;
      if (end > start) {
        names.add(path.substring(start, end));
      }
      start = end + 1;
    }
    return names;
  }

  /**
   * Decodes once: {@code %XX} and {@code +}.
   *
   * @throws LectusException {@code bad_request}
   */
  public static String decode(String text, int start, int end) {
    return decoded(text, start, end).orElseThrow(RequestTarget::notUtf8);
  }

  static LectusException notUtf8() {
    return LectusException.badRequest("The URL is not UTF-8.");
  }

  /**
   * As {@link #decode}, but empty if the result is not UTF-8.
   *
   * @throws LectusException {@code bad_request}: a percent sign without two hex digits
   */
  static Optional<String> decoded(String text, int start, int end) {
    return isPlain(text, start, end)
        ? Optional.of(text.substring(start, end))
        : utf8(decodedBytes(text, start, end, true));
  }

  private static boolean isPlain(String text, int start, int end) {
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%' || c == '+' || c >= 0x80) {
        return false;
      }
    }
    return true;
  }

  private static ByteBuffer decodedBytes(String text, int start, int end, boolean decodesPlus) {
    byte[] bytes = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        bytes[length++] = hexByte(text, i, end);
        i += 2;
      } else {
        bytes[length++] = (byte) (c == '+' && decodesPlus ? ' ' : Math.min(c, NO_BYTE_OF_UTF8));
      }
    }
    return ByteBuffer.wrap(bytes, 0, length);
  }

  private static void checkPercents(String uri) {
    for (int at = uri.indexOf('%'); at >= 0; at = uri.indexOf('%', at + 1)) {
      hexByte(uri, at, uri.length());
    }
  }

  private static byte hexByte(String text, int percent, int end) {
    int high = digit(text, percent + 1, end);
    int low = digit(text, percent + 2, end);
    if (high < 0 || low < 0) {
      throw LectusException.badRequest("invalid_url_encoding");
    }
    return (byte) (high << 4 | low);
  }

  private static int digit(String text, int at, int end) {
    char c = at < end ? text.charAt(at) : 0;
    return c < 0x80 ? Character.digit(c, HEXADECIMAL) : -1;
  }

  /** Returns empty if the bytes are not UTF-8; the buffer's position stays. */
  private static Optional<String> utf8(ByteBuffer bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .decode(bytes.duplicate())
              .toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
