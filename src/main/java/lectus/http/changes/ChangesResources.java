package lectus.http.changes;

import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.DatabaseNames;
import lectus.http.exchange.Resource;
import lectus.http.live.LiveFeeds;
import lectus.http.socket.OpenSessions;

/** The resources that tell of changes: of a database, of many, and of the databases themselves. */
public final class ChangesResources {
  private final Services services;
  private final DatabaseNames names;
  private final LiveFeeds feeds;

  public ChangesResources(Services services, DatabaseNames names, LiveFeeds feeds) {
    this.services = services;
    this.names = names;
    this.feeds = feeds;
  }

  /** {@code /{db}/_changes} and, of one shard, {@code /{db}/_changes/{shard}}. */
  public Resource changes() {
    return new ChangesResource(services, feeds, names);
  }

  /** {@code /{db}/_changes/_meta}. */
  public Resource shards() {
    return new ChangesShardsResource(services, names);
  }

  /** {@code /_db_updates}. */
  public Resource databaseUpdates() {
    return new DbUpdatesResource(services, feeds);
  }

  /** {@code /_changes}, a WebSocket. */
  public Resource socket(HttpSettings settings, OpenSessions sessions) {
    return new ChangesSocketResource(services, settings, feeds, sessions);
  }
}
