package lectus.storedfeed;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.derived.DocumentChannels;
import lectus.derived.StoredFeed;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;

/**
 * In which channels of a stored feed a document is.
 *
 * @param channels with its standing in each
 * @param refused why the feed cannot take the document, which then is in no channel
 * @param isCertain whether that follows from the document alone; otherwise another edit of the very
 *     same content may have decided otherwise, because the database had other indexes and feeds
 */
public record Belonging(
    Map<String, Standing> channels, Optional<String> refused, boolean isCertain) {
  static final Belonging NONE = new Belonging(Map.of(), Optional.empty(), true);

  /**
   * @param leaves of the document, the winner first, with what the feed's channels need; none of a
   *     document that is not there
   */
  public static Belonging of(StoredFeed feed, List<LeafView> leaves, EditWork work) {
    if (leaves.isEmpty()) {
      return NONE;
    }
    EditWork.Share share = work.share();
    try {
      Map<String, Standing> channels = new HashMap<>();
      Standing standing = Standing.MEMBER;
      for (LeafView leaf : leaves) {
        for (String channel : feed.channels().of(leaf, share)) {
          channels.putIfAbsent(channel, standing);
        }
        standing = Standing.BESIDE;
      }
      DocumentChannels.checkCount(channels.size());
      return new Belonging(channels, Optional.empty(), share.isCertain());
    } catch (LectusException refusal) {
      return new Belonging(Map.of(), Optional.of(refusal.error().reason()), share.isCertain());
    }
  }
}
