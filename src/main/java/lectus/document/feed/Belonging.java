package lectus.document.feed;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.channel.DocumentChannels;
import lectus.channel.StoredFeed;
import lectus.error.LectusException;
import lectus.json.LeafView;

/**
 * In which channels of a stored feed a document is.
 *
 * @param channels with its standing in each
 * @param refused why the feed cannot take the document, which then is in no channel
 */
public record Belonging(Map<String, Standing> channels, Optional<String> refused) {
  static final Belonging NONE = new Belonging(Map.of(), Optional.empty());

  /**
   * @param leaves of the document, the winner first, with what the feed's channels need; none of a
   *     document that is not there
   */
  public static Belonging of(StoredFeed feed, String docId, List<LeafView> leaves) {
    if (leaves.isEmpty()) {
      return NONE;
    }
    try {
      Map<String, Standing> channels = new HashMap<>();
      Standing standing = Standing.MEMBER;
      for (LeafView leaf : leaves) {
        for (String channel : feed.channels().of(leaf, docId)) {
          channels.putIfAbsent(channel, standing);
        }
        standing = Standing.BESIDE;
      }
      DocumentChannels.checkCount(channels.size());
      return new Belonging(channels, Optional.empty());
    } catch (LectusException refusal) {
      return new Belonging(Map.of(), Optional.of(refusal.error().reason()));
    }
  }
}
