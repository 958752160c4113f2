package lectus.http.changes;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lectus.document.RequestJson;
import lectus.feed.filter.FeedChannels;
import lectus.feed.filter.FeedFilter;
import lectus.http.message.QueryParameters;

/** The parameters of {@code _changes} that name a stored feed: {@code filter=_feed/name}. */
final class FeedParameters {
  private static final String PREFIX = "_feed/";
  private static final String CHANNELS = "channels";

  private FeedParameters() {}

  static boolean isNamed(QueryParameters query) {
    return query.text("filter").filter(it -> it.startsWith(PREFIX)).isPresent();
  }

  /**
   * @param body of a POST; null for GET
   * @throws lectus.error.LectusException {@code bad_request}
   */
  static FeedFilter filter(QueryParameters query, byte[] body) {
    String name = query.text("filter").orElseThrow().substring(PREFIX.length());
    return FeedChannels.filter(name, channels(query, body), query.isTrue("left"));
  }

  private static List<String> channels(QueryParameters query, byte[] body) {
    List<String> channels = new ArrayList<>(query.texts("channel"));
    query.json(CHANNELS).map(FeedChannels::names).ifPresent(channels::addAll);
    Optional.ofNullable(body)
        .filter(it -> it.length > 0)
        .flatMap(it -> RequestJson.object(it).get(CHANNELS))
        .map(FeedChannels::names)
        .ifPresent(channels::addAll);
    return channels;
  }
}
