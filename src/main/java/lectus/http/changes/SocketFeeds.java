package lectus.http.changes;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import lectus.changes.multi.ManyDatabases;
import lectus.changes.multi.StorePosition;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedSink;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.ResumePoint;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.WorkerDispatch;
import lectus.http.websocket.Scope;
import lectus.http.websocket.SubscriptionFeeds;
import lectus.http.websocket.Terms;

/** Live listeners for the subscriptions of one socket. */
public final class SocketFeeds implements SubscriptionFeeds {
  private final ChangesReader changes;
  private final ManyDatabases manyDatabases;
  private final DatabaseNotifications events;
  private final LiveFeeds feeds;
  private final FeedClient client;

  public SocketFeeds(
      ChangesReader changes,
      ManyDatabases manyDatabases,
      DatabaseNotifications events,
      LiveFeeds feeds,
      FeedClient client) {
    this.changes = changes;
    this.manyDatabases = manyDatabases;
    this.events = events;
    this.feeds = feeds;
    this.client = client.ofSocket();
  }

  @Override
  public Feed ofOne(
      Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink, Runnable opened) {
    return listen(terms, sink, opened, () -> open(scope, terms.options()));
  }

  /** Databases that a user may not read do not exist for that user. */
  private LiveStart<FeedPosition> open(Scope.OneDatabase scope, FeedOptions options) {
    try {
      return changes.readBy(client.user()).live(scope.name(), options, scope.since(), events);
    } catch (LectusException e) {
      boolean isRefusal =
          e.error() instanceof LectusError.Forbidden
              || e.error() instanceof LectusError.Unauthorized;
      throw isRefusal ? LectusException.notFound("Database does not exist.") : e;
    }
  }

  @Override
  public Feed ofMany(
      Scope.ManyDatabases scope, Terms terms, FeedSink<StorePosition> sink, Runnable opened) {
    return listen(
        terms,
        sink,
        opened,
        () ->
            manyDatabases.live(
                scope.databases().compile(),
                terms.options(),
                scope.since(),
                client.user(),
                events));
  }

  private <P extends ResumePoint<P>> Feed listen(
      Terms terms, FeedSink<P> sink, Runnable opened, Callable<LiveStart<P>> opening) {
    FeedTerms feedTerms =
        new FeedTerms(terms.limit(), terms.heartbeatMillis(), OptionalLong.empty());
    LiveListener<P> listener = new LiveListener<>(feeds, client, sink, feedTerms);
    WorkerDispatch.inTime(client.patience(), client.readers(), client.context(), opening)
        .onComplete(done -> opened.run())
        .onComplete(listener::begin, listener::fail);
    return new Feed() {
      @Override
      public void close() {
        listener.close();
      }

      @Override
      public Optional<String> reached() {
        return Optional.ofNullable(listener.reached()).map(ResumePoint::text);
      }
    };
  }
}
