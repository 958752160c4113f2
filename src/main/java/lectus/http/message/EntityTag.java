package lectus.http.message;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Names the state that an answer shows, for a client that asks again (RFC 9110, 8.8.3).
 *
 * @param text without quotes
 */
public record EntityTag(String text) {
  private static final int DELETE = 0x7f;

  /**
   * Whether a list of tags has this one, weak or not. {@code *} does not count, as CouchDB has it.
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

  /** The tag in quotes. Control characters, which no header may have, are percent-encoded. */
  public String header() {
    return '"' + sendable() + '"';
  }

  /** Revisions that replicators bring may have any characters. */
  private String sendable() {
    return text.chars().noneMatch(EntityTag::isControl)
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
