package lectus.http.socket;

import java.util.Optional;
import lectus.feed.FeedSink;
import lectus.feed.page.FeedPosition;
import lectus.feed.updates.StorePosition;

/** Starts what subscriptions listen to. On the connection's event loop. */
public interface SubscriptionFeeds {

  /**
   * The changes of one database.
   *
   * @param sink is also told why it cannot begin
   * @param opened is run when the store was asked, be it that nobody wants to know any more
   */
  Feed ofOne(Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink, Runnable opened);

  /** As {@link #ofOne}, of many databases in one order. */
  Feed ofMany(
      Scope.ManyDatabases scope, Terms terms, FeedSink<StorePosition> sink, Runnable opened);

  /** What feeds a subscription. */
  interface Feed {
    /** The sink is told nothing any more. */
    void close();

    /** How far was looked, in {@code at}'s form; empty if it has not begun. */
    Optional<String> reached();
  }
}
