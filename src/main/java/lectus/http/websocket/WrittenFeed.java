package lectus.http.websocket;

import java.util.Optional;
import java.util.Set;
import lectus.changes.filter.FeedChannels;
import lectus.changes.filter.FeedFilter;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * The stored feed of a subscription, as its client wrote it.
 *
 * @param channels an array of names
 * @param left whether documents that have left are shown, too
 */
record WrittenFeed(String name, Optional<JsonValue> channels, boolean left) {

  /**
   * @throws LectusException {@code bad_request}
   */
  static Optional<WrittenFeed> of(MessageMembers message) {
    Optional<String> name = message.text("feed");
    if (name.isEmpty() && (message.has("channels") || message.has("left"))) {
      throw LectusException.badRequest("`channels` and `left` are of a `feed`.");
    }
    return name.map(it -> new WrittenFeed(it, message.get("channels"), message.flag("left")));
  }

  FeedFilter filter() {
    return FeedChannels.filter(name, channels.map(FeedChannels::names).orElse(Set.of()), left);
  }
}
