package lectus.http.socket;

import lectus.feed.FeedPosition;
import lectus.feed.FeedSink;
import lectus.feed.StorePosition;

/** Starts what subscriptions listen to. On the connection's event loop. */
public interface SubscriptionFeeds {

  /** The changes of one database; failures to begin are told to the sink. */
  Feed ofOne(Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink);

  /** The changes of many databases in one order. */
  Feed ofMany(Scope.ManyDatabases scope, Terms terms, FeedSink<StorePosition> sink);

  /** What feeds a subscription. */
  interface Feed {
    /** The sink is told nothing any more. */
    void close();
  }
}
