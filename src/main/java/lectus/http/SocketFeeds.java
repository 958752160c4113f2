package lectus.http;

import io.vertx.core.Context;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import lectus.feed.FeedPosition;
import lectus.feed.FeedSink;
import lectus.feed.LiveStart;
import lectus.feed.ResumePoint;
import lectus.feed.StorePosition;
import lectus.http.socket.Scope;
import lectus.http.socket.SubscriptionFeeds;
import lectus.http.socket.Terms;

/** Live listeners for the subscriptions of one socket. */
final class SocketFeeds implements SubscriptionFeeds {
  private final HttpApi api;
  private final Context context;

  /**
   * @param context of the connection
   */
  SocketFeeds(HttpApi api, Context context) {
    this.api = api;
    this.context = context;
  }

  @Override
  public Feed ofOne(
      Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink, Runnable opened) {
    Services services = api.services();
    return listen(
        terms,
        sink,
        opened,
        () ->
            services
                .changes()
                .live(scope.name(), terms.options(), scope.since(), services.events()));
  }

  @Override
  public Feed ofMany(
      Scope.ManyDatabases scope, Terms terms, FeedSink<StorePosition> sink, Runnable opened) {
    Services services = api.services();
    return listen(
        terms,
        sink,
        opened,
        () ->
            services
                .manyDatabases()
                .live(scope.databases(), terms.options(), scope.since(), services.events()));
  }

  private <P extends ResumePoint<P>> Feed listen(
      Terms terms, FeedSink<P> sink, Runnable opened, Callable<LiveStart<P>> opening) {
    FeedTerms feedTerms =
        new FeedTerms(terms.limit(), terms.heartbeatMillis(), OptionalLong.empty());
    LiveListener<P> listener = new LiveListener<>(api.liveFeeds(), context, sink, feedTerms);
    Offload.to(api.liveFeeds().readers(), context, opening)
        .onComplete(done -> opened.run())
        .onComplete(listener::begin, listener::fail);
    return listener::close;
  }
}
