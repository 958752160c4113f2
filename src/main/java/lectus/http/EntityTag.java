package lectus.http;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The ETag of the state that an answer shows, for conditional requests (RFC 9110, 8.8.3).
 *
 * @param text without quotes
 */
public record EntityTag(String text) {
  private static final int DELETE = 0x7f;

  /**
   * Whether a list of tags contains this one, weak or not. As in CouchDB, {@code *} does not match.
   *
   * @param tags an {@code If-None-Match}; null if there is none
   */
  public boolean isListedIn(String tags) {
    return tags != null && Arrays.stream(tags.split(",")).anyMatch(this::equalsTag);
  }

  private boolean equalsTag(String tag) {
    String given = tag.trim().replaceFirst("^W/", "").replace("\"", "");
    return given.equals(text) || given.equals(sendable());
  }

  /**
   * Returns the tag in quotes, in UTF-8. Control characters, which headers must not have, are
   * percent-encoded.
   */
  public String header() {
    return '"' + Headers.octets(sendable()) + '"';
  }

  /** Revisions from replicators may contain any characters. */
  private String sendable() {
    int at = 0;
    while (at < text.length() && !isControl(text.charAt(at))) {
      at++;
    }
    return at == text.length()
        ? text
        : text.chars().mapToObj(EntityTag::encoded).collect(Collectors.joining());
  }

  private static String encoded(int character) {
    return isControl(character)
        ? "%%%02X".formatted(character)
        : Character.toString((char) character);
  }

  private static boolean isControl(int character) {
    return character < ' ' || character == DELETE;
  }
}
