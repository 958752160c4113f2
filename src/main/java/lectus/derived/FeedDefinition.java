package lectus.derived;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * A stored feed as a database's admin defines it. Each edit of a document is looked at by all feeds
 * of its database, and writes an entry for each channel in which the document is. Hence the limits.
 *
 * @param selector of the documents in the feed, which then has one channel, without a name; empty
 *     if there are channels
 * @param channels path of the field whose value, or each element of it, is a channel's name; empty
 *     if there is a selector
 */
public record FeedDefinition(String name, Optional<JsonObject> selector, Optional<String> channels)
    implements Derived.Definition {
  public static final int MAX_FEEDS = 32;

  /** Maximum length of a feed's name, in characters. */
  static final int LONGEST_NAME = 128;

  /** Maximum length of a selector, as JSON, or of a field's path, in UTF-16 units. */
  static final int LONGEST_DEFINITION = 8_000;

  /** Maximum number of channels of a feed in which one document is. */
  static final int MAX_CHANNELS = 100;

  /** Number of channels of a feed of which it is remembered that one document left them. */
  public static final int MAX_LEFT = 200;

  /** Maximum length of a channel's name, in bytes of UTF-8. */
  public static final int LONGEST_CHANNEL = 256;

  /** Maximum number of channels that one reader asks for. */
  public static final int MAX_ASKED = 100;

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
        json.get(SELECTOR).map(FeedDefinition::checkedSelector),
        json.get(CHANNELS).map(FeedDefinition::checkedPath));
  }

  public static FeedDefinition ofSelector(String name, JsonObject selector) {
    return new FeedDefinition(name, Optional.of(selector), Optional.empty());
  }

  public static FeedDefinition ofChannels(String name, String path) {
    return new FeedDefinition(name, Optional.empty(), Optional.of(path));
  }

  /**
   * @throws LectusException {@code bad_request}: no feed can have this name
   */
  public static void checkName(String name) {
    boolean isUsable =
        !name.isEmpty()
            && name.length() <= LONGEST_NAME
            && name.charAt(0) != '_'
            && name.chars().allMatch(FeedDefinition::isOfName);
    if (!isUsable) {
      throw LectusException.badRequest(
          "A stored feed's name has 1 to "
              + LONGEST_NAME
              + " letters a to z, digits, and any of _ . - and does not begin with _.");
    }
  }

  private static boolean isOfName(int c) {
    boolean isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return isLetter || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  }

  private static JsonObject checkedSelector(JsonValue value) {
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
    return selector;
  }

  private static String checkedPath(JsonValue value) {
    if (!(value instanceof JsonString path) || path.value().isEmpty()) {
      throw LectusException.badRequest("`channels` must be the path of a field.");
    }
    checkLength(path.value(), "path of a stored feed's channels");
    FieldPath.parse(path.value());
    return path.value();
  }

  private static void checkLength(String text, String what) {
    if (text.length() > LONGEST_DEFINITION) {
      throw LectusException.badRequest(
          "The " + what + " has at most " + LONGEST_DEFINITION + " characters.");
    }
  }

  @Override
  public Derived.Kind kind() {
    return Derived.Kind.FEED;
  }

  @Override
  public String definedBy() {
    return name;
  }

  @Override
  public String title() {
    return "stored feed " + name;
  }

  @Override
  public List<FieldPath> paths() {
    return channels.map(FieldPath::parse).stream().toList();
  }

  /** Returns what {@link #parse} reads. */
  public JsonObject json() {
    return selector
        .map(it -> new JsonObject(Map.of(SELECTOR, it)))
        .orElseGet(() -> new JsonObject(Map.of(CHANNELS, new JsonString(channels.orElseThrow()))));
  }

  @Override
  public long heapBytes() {
    return HEAP_BYTES + FilterSize.of(json()).memory();
  }
}
