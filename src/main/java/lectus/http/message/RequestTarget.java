package lectus.http.message;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;

/**
 * The raw request URI, taken apart as CouchDB does: names lie between slashes, each is decoded
 * once, empty ones do not count. Nothing is normalized, so a document called {@code .} or {@code
 * a/b} (as {@code a%2Fb}) is a document like any other. A {@code +} is a space.
 *
 * @param segments the decoded names
 * @param path the raw path, for the log
 * @param query the raw text behind the question mark, empty if there is none
 */
public record RequestTarget(List<String> segments, String path, String query) {

  /**
   * @param uri as the request line has it, one char per byte, in origin or absolute form
   * @throws LectusException {@code bad_request}: not percent-encoded UTF-8
   */
  public static RequestTarget parse(String uri) {
    String target = uri.startsWith("/") ? uri : withoutAuthority(uri);
    int question = target.indexOf('?');
    String path = question < 0 ? target : target.substring(0, question);
    String query = question < 0 ? "" : target.substring(question + 1);
    return new RequestTarget(split(path), path, query);
  }

  private static String withoutAuthority(String uri) {
    int scheme = uri.indexOf("://");
    int slash = scheme < 0 ? -1 : uri.indexOf('/', scheme + 3);
    return slash < 0 ? "/" : uri.substring(slash);
  }

  private static List<String> split(String path) {
    List<String> segments = new ArrayList<>(4);
    int start = 0;
    while (start < path.length()) {
      int slash = path.indexOf('/', start);
      int end = slash < 0 ? path.length() : slash;
      if (end > start) {
        segments.add(decode(path, start, end));
      }
      start = end + 1;
    }
    return segments;
  }

  /**
   * Decodes once: {@code %XX} and {@code +}.
   *
   * @throws LectusException {@code bad_request}
   */
  public static String decode(String text, int start, int end) {
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%' || c == '+' || c >= 0x80) {
        return decodeBytes(text, start, end);
      }
    }
    return text.substring(start, end);
  }

  private static String decodeBytes(String text, int start, int end) {
    byte[] bytes = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        bytes[length++] = hexByte(text, i, end);
        i += 2;
      } else if (c > 0xff) {
        throw notUtf8();
      } else {
        bytes[length++] = (byte) (c == '+' ? ' ' : c);
      }
    }
    return utf8(bytes, length);
  }

  private static byte hexByte(String text, int percent, int end) {
    int high = digit(text, percent + 1, end);
    int low = digit(text, percent + 2, end);
    if (high < 0 || low < 0) {
      throw LectusException.badRequest("The URL holds a % that two hex digits do not follow.");
    }
    return (byte) (high << 4 | low);
  }

  private static int digit(String text, int at, int end) {
    char c = at < end ? text.charAt(at) : 0;
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }

  private static String utf8(byte[] bytes, int length) {
    try {
      CharBuffer decoded =
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(bytes, 0, length));
      return decoded.toString();
    } catch (CharacterCodingException e) {
      throw notUtf8();
    }
  }

  private static LectusException notUtf8() {
    return LectusException.badRequest("The URL is not UTF-8.");
  }
}
