package lectus.http;

import java.util.Arrays;

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
    StringBuilder sendable = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ' || c == DELETE) {
        sendable.append("%%%02X".formatted((int) c));
      } else {
        sendable.append(c);
      }
    }
    return sendable.toString();
  }
}
