package lectus.http.message;

import java.util.Arrays;

/**
 * Names the state that an answer shows, for a client that asks again (RFC 9110, 8.8.3).
 *
 * @param text without quotes
 */
public record EntityTag(String text) {

  /**
   * Whether a list of tags has this one, weak or not. {@code *} does not count, as CouchDB has it.
   *
   * @param tags an {@code If-None-Match}; null if there is none
   */
  public boolean isListedIn(String tags) {
    return tags != null && Arrays.stream(tags.split(",")).anyMatch(this::equalsTag);
  }

  private boolean equalsTag(String tag) {
    return text.equals(tag.trim().replaceFirst("^W/", "").replace("\"", ""));
  }

  public String header() {
    return '"' + text + '"';
  }
}
