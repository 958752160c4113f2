package lectus.http.websocket;

import java.util.Optional;
import lectus.changes.multi.StorePosition;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedSink;

/** Starts the feeds of subscriptions. On the connection's event loop. */
public interface SubscriptionFeeds {

  /**
   * Starts the changes of one database.
   *
   * @param sink also gets the error if the feed cannot begin
   * @param opened is run when the store has answered, even if the subscription is over by then
   */
  Feed ofOne(Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink, Runnable opened);

  /** As {@link #ofOne}, for many databases in one order. */
  Feed ofMany(
      Scope.ManyDatabases scope, Terms terms, FeedSink<StorePosition> sink, Runnable opened);

  /** The feed of a subscription. */
  interface Feed {
    /** Ends the calls to the sink. */
    void close();

    /**
     * Returns the position up to which rows were looked at, in the form of {@code at}; empty if the
     * feed has not begun.
     */
    Optional<String> reached();
  }
}
