package lectus.http.changes;

import io.vertx.core.Context;
import java.time.Duration;
import java.util.concurrent.Executor;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.http.exchange.Exchange;
import lectus.http.limits.RequestThreads.Kind;

/**
 * The client that a feed is read for.
 *
 * @param context of its connection
 * @param patience how long it waits for a feed to be opened
 * @param readers runs what it waits for next
 * @param laterReaders runs further pages of a long feed
 * @param admission as whom the client was let in, and for how long
 * @param isWatched whether somebody else ends the feed when that is over
 */
public record FeedClient(
    Context context,
    Duration patience,
    Executor readers,
    Executor laterReaders,
    Session admission,
    boolean isWatched) {

  /** Passes on what a socket keeps, so that the request can be collected. */
  public static FeedClient of(Exchange exchange) {
    return new FeedClient(
        exchange.context(),
        exchange.patience(),
        exchange.readers(Kind.FEED),
        exchange.readers(Kind.LONG_FEED),
        exchange.identity().session(),
        false);
  }

  /** Returns the client of one feed of a socket, which ends with the socket. */
  FeedClient ofSocket() {
    return new FeedClient(context, patience, readers, laterReaders, admission, true);
  }

  public UserContext user() {
    return admission.user();
  }
}
