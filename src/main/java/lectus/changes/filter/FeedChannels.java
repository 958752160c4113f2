package lectus.changes.filter;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import lectus.derived.FeedLimits;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/** Makes the filter of a reader of a stored feed from the request's parameters. */
public final class FeedChannels {
  private FeedChannels() {}

  /**
   * @param channels as written; none of a feed with a selector
   * @throws LectusException {@code bad_request}: they are too many, or one is no channel's name
   */
  public static FeedFilter filter(String feed, Collection<String> channels, boolean left) {
    Set<String> different = new HashSet<>(channels);
    if (different.size() > FeedLimits.MAX_ASKED) {
      throw LectusException.badRequest(
          "At most " + FeedLimits.MAX_ASKED + " channels can be read at once.");
    }
    different.forEach(FeedChannels::check);
    return new FeedFilter.OfFeed(feed, different, left, Optional.empty());
  }

  private static void check(String channel) {
    int bytes = channel.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > FeedLimits.LONGEST_CHANNEL) {
      throw LectusException.badRequest(
          "The name of a channel has 1 to " + FeedLimits.LONGEST_CHANNEL + " bytes.");
    }
  }

  /**
   * @param json an array of strings
   * @throws LectusException {@code bad_request}
   */
  public static Set<String> names(JsonValue json) {
    if (!(json instanceof JsonValue.JsonArray array)) {
      throw notNames();
    }
    Set<String> names = new HashSet<>();
    for (JsonValue element : array.elements()) {
      if (!(element instanceof JsonValue.JsonString name)) {
        throw notNames();
      }
      names.add(name.value());
    }
    return names;
  }

  private static LectusException notNames() {
    return LectusException.badRequest("`channels` must be an array of strings.");
  }
}
