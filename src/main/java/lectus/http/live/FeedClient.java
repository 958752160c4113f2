package lectus.http.live;

import io.vertx.core.Context;
import java.time.Duration;
import java.util.concurrent.Executor;
import lectus.http.ReaderTurns.Kind;
import lectus.http.exchange.Exchange;

/**
 * The client that a feed is read for.
 *
 * @param context of its connection
 * @param patience how long it waits for a feed to be opened
 * @param readers runs what it waits for next
 * @param laterReaders runs further pages of a long feed
 */
public record FeedClient(
    Context context, Duration patience, Executor readers, Executor laterReaders) {

  /** Passes on what a socket keeps, so that the request can be collected. */
  public static FeedClient of(Exchange exchange) {
    return new FeedClient(
        exchange.context(),
        exchange.patience(),
        exchange.readers(Kind.FEED),
        exchange.readers(Kind.LONG_FEED));
  }
}
