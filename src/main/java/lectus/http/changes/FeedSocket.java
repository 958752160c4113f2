package lectus.http.changes;

import io.vertx.core.Future;
import io.vertx.core.http.ServerWebSocket;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedSink;
import lectus.changes.page.FeedText;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Rows;
import lectus.error.LectusError;
import lectus.http.changes.LiveListener.FeedTerms;
import lectus.http.changes.TextSocket.CloseCode;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Failures;
import lectus.http.exchange.WebSocketUpgrade;
import lectus.http.limits.PageMemory;
import lectus.http.limits.RequestThreads.Kind;
import lectus.json.JsonBuffer;
import lectus.metrics.RequestLabel;

/**
 * A live feed as a WebSocket: each row is a text message. It ends with one more message, equal to
 * the last line of a continuous feed, and the close frame. The client sends nothing.
 */
final class FeedSocket<P extends ResumePoint<P>> implements FeedSink<P>, TextSocket.Listener {
  private final TextSocket socket;
  private final RowMessages messages;
  private final RequestLabel request;
  private final LiveListener<P> listener;
  private final PageMemory memory;

  private FeedSocket(
      TextSocket socket,
      LiveFeeds feeds,
      FeedClient client,
      FeedTerms terms,
      PageMemory memory,
      RequestLabel request) {
    this.socket = socket;
    this.messages = feeds.rowMessages();
    this.request = request;
    this.memory = memory;
    this.listener = new LiveListener<>(feeds, client, this, terms);
  }

  /**
   * Opens the source, then the socket: an error of opening is an HTTP answer.
   *
   * @param opening runs on a feed reader's thread
   * @throws lectus.error.LectusException if the request is not a proper one for a WebSocket
   */
  static <P extends ResumePoint<P>> void start(
      LiveFeeds feeds, Exchange exchange, FeedQuery<?> query, Callable<LiveStart<P>> opening) {
    WebSocketUpgrade upgrade = new WebSocketUpgrade(exchange);
    upgrade.check();
    exchange.keepUnread();
    exchange
        .read(Kind.FEED, opening)
        .onComplete(
            start -> exchange.guarded(() -> open(feeds, exchange, query, upgrade, start)),
            failure -> refuse(exchange, failure));
  }

  private static void refuse(Exchange exchange, Throwable failure) {
    exchange.becomesNoSocket();
    exchange.fail(failure);
  }

  private static <P extends ResumePoint<P>> void open(
      LiveFeeds feeds,
      Exchange exchange,
      FeedQuery<?> query,
      WebSocketUpgrade upgrade,
      LiveStart<P> start) {
    if (exchange.isAbandoned()) {
      exchange.abandoned();
      return;
    }
    upgrade
        .accept(Optional.empty())
        .onComplete(opened -> begin(feeds, exchange, query, opened, start), exchange::fail);
  }

  private static <P extends ResumePoint<P>> void begin(
      LiveFeeds feeds,
      Exchange exchange,
      FeedQuery<?> query,
      ServerWebSocket opened,
      LiveStart<P> start) {
    TextSocket socket = feeds.socket(exchange, opened, query.heartbeatMillis());
    FeedTerms terms = query.socketTerms();
    FeedClient client = FeedClient.of(exchange);
    FeedSocket<P> feed =
        new FeedSocket<>(
            socket,
            feeds,
            client,
            terms,
            new PageMemory(exchange.memory().pages()),
            exchange.label());
    socket.start(feed);
    feed.listener.begin(start);
  }

  @Override
  public void received(byte[] utf8) {
    listener.close();
    socket.close(CloseCode.POLICY_VIOLATION, "This socket takes no messages.");
  }

  @Override
  public void closed() {
    memory.noneComes();
    listener.close();
  }

  @Override
  public void begin(P from) {}

  @Override
  public void rows(Rows<P> rows, int from, int to) {
    int bytes = rows.bytes(from, to);
    Future<Void> last = Future.succeededFuture();
    for (int row = from; row < to; row++) {
      last = socket.send(messages.of(rows, row));
    }
    // Counted only now: if sending fails, nobody would release it.
    memory.sends(bytes);
    last.onComplete(sent -> memory.taken(bytes));
  }

  @Override
  public long room() {
    return !socket.isFull() && memory.hasRoom() ? Long.MAX_VALUE : 0;
  }

  @Override
  public boolean hasMemoryFor(Rows<P> rows, int from, int to) {
    return memory.hasRoomFor(rows.bytes(from, to));
  }

  @Override
  public void whenRoom(Runnable again) {
    if (socket.isFull()) {
      socket.whenDrained(again);
    } else {
      socket.afterMillis(PageMemory.RETRY_MILLIS, again);
    }
  }

  @Override
  public void caughtUp(P at) {
    memory.noneComes();
  }

  /** The socket sends its own pings. */
  @Override
  public void heartbeat(P at) {}

  @Override
  public void end(FeedEnd reason, P at, long pending) {
    memory.noneComes();
    if (reason instanceof FeedEnd.NotAllowed refused) {
      socket.close(CloseCode.POLICY_VIOLATION, refused.why().reason());
    } else if (reason.error().isPresent()) {
      socket.close(CloseCode.INTERNAL_ERROR, reason.error().get().reason());
    } else {
      endInOrder(reason, at, pending);
    }
  }

  private void endInOrder(FeedEnd reason, P at, long pending) {
    JsonBuffer last = new JsonBuffer(128);
    FeedText.appendLastLine(at, pending, reason, last);
    socket.send(last.truncate(last.length() - 1).toBytes());
    if (reason instanceof FeedEnd.ServerStopping) {
      socket.close(CloseCode.GOING_AWAY, "The server stops; connect again.");
    } else {
      socket.close(CloseCode.NORMAL, "The feed has ended.");
    }
  }

  @Override
  public void fail(Throwable failure) {
    memory.noneComes();
    LectusError error = Failures.errorOf(failure, request);
    boolean passes = error instanceof LectusError.Unavailable;
    socket.close(passes ? CloseCode.TRY_AGAIN_LATER : CloseCode.INTERNAL_ERROR, error.reason());
  }

  /**
   * The bytes of single rows, extracted once for all consecutive listeners that get the same page:
   * those of the last page are kept, unless it is a long one. For one event loop.
   */
  static final class RowMessages {
    private Rows<?> last = Rows.none();
    private byte[][] messages = {};

    /** Returns a row's JSON, which must not be changed. */
    byte[] of(Rows<?> rows, int row) {
      if (rows.areLong()) {
        return cutOut(rows, row);
      }
      if (rows != last) {
        last = rows;
        messages = new byte[rows.size()][];
      }
      if (messages[row] == null) {
        messages[row] = cutOut(rows, row);
      }
      return messages[row];
    }

    private static byte[] cutOut(Rows<?> rows, int row) {
      return Arrays.copyOfRange(rows.json(), rows.start(row), rows.end(row));
    }
  }
}
