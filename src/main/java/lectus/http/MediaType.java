package lectus.http;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import lectus.error.LectusException;

/**
 * The value of a Content-Type (RFC 9110, section 8.3.1).
 *
 * @param name in lower case, such as {@code multipart/related}
 * @param parameters by their names in lower case; of equal names the first
 */
public record MediaType(String name, Map<String, String> parameters) {

  /** Whether a Content-Type names this type, with any parameters; false for null. */
  public static boolean isNamed(String name, String contentType) {
    return contentType != null && nameOf(contentType).equals(name);
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  public static MediaType parse(String contentType) {
    Map<String, String> parameters = new LinkedHashMap<>();
    int at = contentType.indexOf(';');
    while (at >= 0 && at < contentType.length()) {
      int end = endOfParameter(contentType, at + 1);
      readParameter(contentType.substring(at + 1, end).strip(), parameters);
      at = end;
    }
    return new MediaType(nameOf(contentType), parameters);
  }

  private static String nameOf(String contentType) {
    int semicolon = contentType.indexOf(';');
    String name = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
    return name.strip().toLowerCase(Locale.ROOT);
  }

  /** Returns the position of the next semicolon outside quotes. */
  private static int endOfParameter(String text, int from) {
    boolean quoted = false;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\' && quoted) {
        i++;
      } else if (c == ';' && !quoted) {
        return i;
      }
    }
    if (quoted) {
      throw LectusException.badRequest("A quoted value in Content-Type does not end.");
    }
    return text.length();
  }

  /** Parameters may be empty: semicolons may follow each other. */
  private static void readParameter(String text, Map<String, String> parameters) {
    if (text.isEmpty()) {
      return;
    }
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw LectusException.badRequest("A parameter of Content-Type has no name or no value.");
    }
    String name = text.substring(0, equals).strip().toLowerCase(Locale.ROOT);
    parameters.putIfAbsent(name, unquoted(text.substring(equals + 1).strip()));
  }

  private static String unquoted(String value) {
    if (!value.startsWith("\"") || !value.endsWith("\"") || value.length() < 2) {
      return value;
    }
    return value.substring(1, value.length() - 1).replaceAll("\\\\(.)", "$1");
  }
}
