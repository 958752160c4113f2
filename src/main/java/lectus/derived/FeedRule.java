package lectus.derived;

import lectus.json.JsonValue.JsonObject;

/** Which documents are in a stored feed. */
public sealed interface FeedRule {
  /** Those that a selector matches. The feed has one channel, which has no name. */
  record Selected(JsonObject selector) implements FeedRule {}

  /**
   * Those that name a channel.
   *
   * @param path of the field whose value, or each element of it, is a channel's name
   */
  record Channels(String path) implements FeedRule {}
}
