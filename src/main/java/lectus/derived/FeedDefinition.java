package lectus.derived;

import java.util.Map;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.mango.selector.FilterSize;
import lectus.mango.selector.Selector;

/** A stored feed as a database's admin defines it. */
public record FeedDefinition(String name, FeedRule rule) {
  private static final String SELECTOR = "selector";
  private static final String CHANNELS = "channels";

  private static final int HEAP_BYTES = 1_000;

  /**
   * @param json {@code {"selector":{…}}} or {@code {"channels":"path.to.field"}}
   * @throws LectusException {@code bad_request}, or 400 with the error of a selector
   */
  public static FeedDefinition parse(String name, JsonObject json) {
    checkName(name);
    if (json.members().size() != 1
        || !Set.of(SELECTOR, CHANNELS).containsAll(json.members().keySet())) {
      throw LectusException.badRequest(
          "A stored feed has either a `selector` or `channels`, and nothing else.");
    }
    return new FeedDefinition(
        name,
        json.get(SELECTOR)
            .map(FeedDefinition::selected)
            .orElseGet(() -> channels(json.get(CHANNELS).orElseThrow())));
  }

  /**
   * @throws LectusException {@code bad_request}: no feed can have this name
   */
  public static void checkName(String name) {
    boolean isUsable =
        !name.isEmpty()
            && name.length() <= FeedLimits.LONGEST_NAME
            && name.charAt(0) != '_'
            && name.chars().allMatch(FeedDefinition::isOfName);
    if (!isUsable) {
      throw LectusException.badRequest(
          "A stored feed's name has 1 to "
              + FeedLimits.LONGEST_NAME
              + " letters a to z, digits, and any of _ . - and does not begin with _.");
    }
  }

  private static boolean isOfName(int c) {
    boolean isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return isLetter || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  }

  private static FeedRule selected(JsonValue value) {
    if (!(value instanceof JsonObject selector)) {
      throw LectusException.badRequest("`selector` must be a JSON object.");
    }
    checkLength(selector.toJson(), "selector");
    Selector.compile(selector);
    if (FilterSize.of(selector).instructions() > FilterSize.MAX_INSTRUCTIONS_IN_WRITES) {
      throw LectusException.badRequest(
          "invalid_selector",
          "The selector of a stored feed has at most "
              + FilterSize.MAX_INSTRUCTIONS_IN_WRITES
              + " instructions of regular expressions.");
    }
    return new FeedRule.Selected(selector);
  }

  private static FeedRule channels(JsonValue value) {
    if (!(value instanceof JsonString path) || path.value().isEmpty()) {
      throw LectusException.badRequest("`channels` must be the path of a field.");
    }
    checkLength(path.value(), "path of a stored feed's channels");
    FieldPath.parse(path.value());
    return new FeedRule.Channels(path.value());
  }

  private static void checkLength(String text, String what) {
    if (text.length() > FeedLimits.LONGEST_DEFINITION) {
      throw LectusException.badRequest(
          "The " + what + " has at most " + FeedLimits.LONGEST_DEFINITION + " characters.");
    }
  }

  public boolean isOfChannels() {
    return rule instanceof FeedRule.Channels;
  }

  /** Returns what {@link #parse} reads. */
  public JsonObject json() {
    return rule instanceof FeedRule.Selected some
        ? new JsonObject(Map.of(SELECTOR, some.selector()))
        : new JsonObject(Map.of(CHANNELS, new JsonString(((FeedRule.Channels) rule).path())));
  }

  /** Returns approximate memory with all that is compiled, in bytes. */
  long heapBytes() {
    return HEAP_BYTES + FilterSize.of(json()).memory();
  }
}
