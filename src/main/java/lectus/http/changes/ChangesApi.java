package lectus.http.changes;

import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.CheckedNames;
import lectus.http.exchange.Resource;
import lectus.http.live.FeedClient;
import lectus.http.live.LiveFeeds;
import lectus.http.live.SocketFeeds;
import lectus.http.socket.OpenSessions;
import lectus.http.socket.SubscriptionFeeds;

/**
 * The resources that report changes: of a database, of many databases, and of the list of
 * databases.
 */
public final class ChangesApi {
  private final Services services;
  private final CheckedNames names;
  private final LiveFeeds feeds;

  public ChangesApi(Services services, CheckedNames names, LiveFeeds feeds) {
    this.services = services;
    this.names = names;
    this.feeds = feeds;
  }

  /** {@code /{db}/_changes}, and {@code /{db}/_changes/{shard}} for one shard. */
  public Resource changes() {
    return new ChangesResource(
        services.changes(), services.documents(), services.events(), feeds, names);
  }

  /** {@code /{db}/_changes/_meta}. */
  public Resource shards() {
    return new ChangesShardsResource(services.changesShards(), services.events(), names);
  }

  /** {@code /_db_updates}. */
  public Resource databaseUpdates() {
    return new DbUpdatesResource(services.storeUpdates(), services.events(), feeds);
  }

  /** {@code /_changes}, a WebSocket. */
  public Resource socket(HttpSettings settings, OpenSessions sessions) {
    return new ChangesSocketResource(
        this::ofClient,
        settings,
        feeds.clock(),
        feeds::gaveUp,
        sessions,
        services.memory(),
        services.admissions(),
        services.usage());
  }

  private SubscriptionFeeds ofClient(FeedClient client) {
    return new SocketFeeds(
        services.changes(), services.manyDatabases(), services.events(), feeds, client);
  }
}
