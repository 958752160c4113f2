package lectus.clients.replicator;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A body of {@code multipart/mixed}, split like {@code couch_httpd:parse_multipart_request}: the
 * first boundary begins a line or the body; others are preceded by a line end that belongs to them;
 * a boundary followed by two hyphens is the end.
 */
final class MixedParts {
  private final String text;
  private final String boundary;

  /** One character per byte. */
  private int position;

  private MixedParts(byte[] body, String boundary) {
    this.text = new String(body, StandardCharsets.ISO_8859_1);
    this.boundary = boundary;
  }

  /**
   * @param type the part's own {@code Content-Type}, without its parameters
   * @param parameters of that type, without quotes
   * @param headers by name in lower case
   * @param bytes one character for each
   */
  record Part(
      String type, Map<String, String> parameters, Map<String, String> headers, String bytes) {
    String body() {
      return utf8(bytes);
    }

    byte[] content() {
      return bytes.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the parts of a part that has several. */
    List<Part> inner() {
      return new MixedParts(content(), parameters.get("boundary")).parts();
    }
  }

  static List<Part> of(String contentType, byte[] body) {
    Part head = header(contentType, Map.of(), "");
    if (!head.type().startsWith("multipart/")) {
      throw new AssertionError("Not multipart: " + contentType);
    }
    return new MixedParts(body, head.parameters().get("boundary")).parts();
  }

  private List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    upTo("--" + boundary);
    do {
      Map<String, String> headers = headers(upTo("\r\n\r\n"));
      String body = upTo("\r\n--" + boundary);
      parts.add(header(headers.getOrDefault("content-type", ""), headers, body));
    } while (!text.startsWith("--", position));
    return parts;
  }

  /** Returns what precedes the next such mark, and continues after the mark. */
  private String upTo(String mark) {
    int end = text.indexOf(mark, position);
    if (end < 0) {
      throw new AssertionError("No " + mark + " behind byte " + position);
    }
    String before = text.substring(position, end);
    position = end + mark.length();
    return before;
  }

  private static Map<String, String> headers(String lines) {
    Map<String, String> headers = new LinkedHashMap<>();
    for (String line : lines.split("\r\n", -1)) {
      if (!line.isEmpty()) {
        int colon = line.indexOf(':');
        headers.put(
            line.substring(0, colon).strip().toLowerCase(Locale.ROOT), line.substring(colon + 1));
      }
    }
    return headers;
  }

  private static Part header(String value, Map<String, String> headers, String body) {
    String[] words = value.split(";", -1);
    Map<String, String> parameters = new LinkedHashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] parameter = words[i].strip().split("=", 2);
      parameters.put(parameter[0].toLowerCase(Locale.ROOT), parameter[1].replace("\"", ""));
    }
    return new Part(words[0].strip().toLowerCase(Locale.ROOT), parameters, headers, body);
  }

  private static String utf8(String bytes) {
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
