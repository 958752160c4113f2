package lectus.http;

import java.util.OptionalLong;
import java.util.concurrent.Callable;
import lectus.feed.FeedPosition;
import lectus.feed.FeedSink;
import lectus.feed.LiveStart;
import lectus.feed.ResumePoint;
import lectus.http.socket.Scope;
import lectus.http.socket.SubscriptionFeeds;
import lectus.http.socket.Terms;

/** Live listeners for the subscriptions of one socket. */
final class SocketFeeds implements SubscriptionFeeds {
  private final Exchange exchange;
  private final Services services;

  SocketFeeds(Exchange exchange) {
    this.exchange = exchange;
    this.services = exchange.api().services();
  }

  @Override
  public Feed ofOne(Scope.OneDatabase scope, Terms terms, FeedSink<FeedPosition> sink) {
    return listen(
        terms,
        sink,
        () ->
            services
                .changes()
                .live(scope.name(), terms.options(), scope.since(), services.events()));
  }

  private <P extends ResumePoint<P>> Feed listen(
      Terms terms, FeedSink<P> sink, Callable<LiveStart<P>> opening) {
    FeedTerms feedTerms =
        new FeedTerms(terms.limit(), terms.heartbeatMillis(), OptionalLong.empty());
    LiveListener<P> listener =
        new LiveListener<>(exchange.api().liveFeeds(), exchange.context(), sink, feedTerms);
    listener.start(opening);
    return listener::close;
  }
}
