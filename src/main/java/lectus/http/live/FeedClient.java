package lectus.http.live;

import io.vertx.core.Context;
import java.util.concurrent.Executor;
import lectus.http.ReaderTurns.Kind;
import lectus.http.exchange.Exchange;

/**
 * The client that feeds are read for.
 *
 * @param context of its connection
 * @param readers runs what it waits for next
 * @param laterReaders runs further pages of what is long
 */
public record FeedClient(Context context, Executor readers, Executor laterReaders) {

  /** What stays with a socket leaves the request behind. */
  public static FeedClient of(Exchange exchange) {
    return new FeedClient(
        exchange.context(), exchange.readers(Kind.FEED), exchange.readers(Kind.LONG_FEED));
  }
}
