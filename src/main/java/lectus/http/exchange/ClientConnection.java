package lectus.http.exchange;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import lectus.error.LectusException;
import lectus.http.HttpSettings.HostSettings;
import lectus.http.IpLiteral;
import lectus.http.limits.VertxInternals;

/**
 * A client's connection, and its use: from the end of a request's head to the end of its answer,
 * and for ever once it is a WebSocket. Among the readers' threads a client is a connection,
 * whatever that carries: requests in sequence, many at once, or a WebSocket's messages. Changed on
 * the connection's event loop, read on any thread.
 */
public final class ClientConnection {
  private static final AttributeKey<ClientConnection> KEY =
      AttributeKey.valueOf(ClientConnection.class.getName());

  /** Requests of a connection in one turn of its event loop. */
  static final int MAX_IN_TURN = 8;

  /** Who is at the other end: its own address, or the one that a proxy announced. */
  private InetAddress address;

  private String addressText;

  /** Whether a proxy announced that its client came over TLS. */
  private boolean isSecureInFront;

  /** Where requests beside another one are counted; the event loop's alone, like what follows. */
  private StreamQuota room = StreamQuota.UNLIMITED;

  private BooleanSupplier toleratesReset = () -> true;

  /** Streams that end with a reset that their client did not provoke, until they are closed. */
  private final Set<Long> unprovoked = new HashSet<>(0);

  /** The last name of the server that was allowed, and by which settings. */
  private String host = "";

  private Optional<HostSettings> allowedBy = Optional.empty();

  private int counted;
  private boolean isCrowded;
  private int inTurn;

  private volatile int requests;

  private volatile long requestsBegun;

  /**
   * Whether the last request has been read to its end, if it was answered before. For the event
   * loop.
   */
  private BooleanSupplier isRead;

  private volatile long idleSinceNanos = System.nanoTime();
  private volatile boolean isMultiplexed;

  /** Room for requests that share their connection with others. Thread-safe. */
  public interface StreamQuota {
    StreamQuota UNLIMITED =
        new StreamQuota() {
          @Override
          public boolean take() {
            return true;
          }

          @Override
          public void free() {}
        };

    /** Returns whether there is room; if so, it has to be freed. */
    boolean take();

    void free();
  }

  private ClientConnection(Channel channel) {
    // A connection that is closed already may have no address any more.
    this.address =
        channel.remoteAddress() instanceof InetSocketAddress inet
            ? inet.getAddress()
            : new InetSocketAddress(0).getAddress();
    this.addressText = IpLiteral.text(address);
  }

  public static ClientConnection of(HttpConnection connection) {
    return of(VertxInternals.handler(connection).channel());
  }

  public static ClientConnection of(Channel channel) {
    ClientConnection known = channel.attr(KEY).get();
    if (known != null) {
      return known;
    }
    ClientConnection fresh = new ClientConnection(channel);
    ClientConnection other = channel.attr(KEY).setIfAbsent(fresh);
    return other == null ? fresh : other;
  }

  /** Notes what a proxy announced, before the first request. */
  public void announce(InetAddress client, boolean isSecure) {
    address = client;
    addressText = IpLiteral.text(client);
    isSecureInFront = isSecure;
  }

  InetAddress address() {
    return address;
  }

  /** Returns the address as in the log. */
  String addressText() {
    return addressText;
  }

  boolean isSecureInFront() {
    return isSecureInFront;
  }

  /**
   * Whether the last request named the server so, and was allowed to: whether a name is one of the
   * server's depends on the connection's own address, and takes a twentieth of a read's time.
   */
  public boolean isAllowed(String name, HostSettings hosts) {
    return host.equals(name) && allowedBy.isPresent() && allowedBy.get() == hosts;
  }

  /** Notes that these settings allow a name on this connection. */
  public void allow(String name, HostSettings hosts) {
    host = name;
    allowedBy = Optional.of(hosts);
  }

  /**
   * Notes that a request has begun.
   *
   * @param multiplexed whether other requests may run beside it
   */
  void begin(boolean multiplexed) {
    boolean isBeside = multiplexed && requests > 0;
    isCrowded = isBeside && !room.take();
    counted += isBeside && !isCrowded ? 1 : 0;
    requests = requests + 1;
    requestsBegun = requestsBegun + 1;
    isRead = null;
    isMultiplexed = multiplexed;
  }

  /**
   * Notes that a request was answered, or that its client has given it up.
   *
   * @param isRead whether all of it has arrived; asked on the connection's event loop
   */
  void end(BooleanSupplier isRead) {
    this.isRead = isRead.getAsBoolean() ? null : isRead;
    idleSinceNanos = System.nanoTime();
    requests = requests - 1;
    giveBack(Math.max(0, requests - 1));
  }

  private void giveBack(int rest) {
    for (; counted > rest; counted--) {
      room.free();
    }
  }

  /**
   * Notes a request that may be begun in this turn of the event loop, or else in the next one: as
   * many of one connection would keep others waiting.
   */
  public boolean takeTurn() {
    inTurn++;
    return inTurn <= MAX_IN_TURN;
  }

  /** Runs an action on the connection's event loop once it is closed, by either side. */
  public static void whenClosed(HttpConnection connection, Runnable action) {
    VertxInternals.handler(connection).channel().closeFuture().addListener(closed -> action.run());
  }

  /** Notes that the event loop has gone on to other connections. */
  public void endTurn() {
    inTurn = 0;
  }

  /** Has requests beside another one, and resets, counted; before the first of them. */
  public void countIn(StreamQuota shared, BooleanSupplier resets) {
    room = shared;
    toleratesReset = resets;
  }

  /**
   * Notes that the server resets a stream by itself, or that the client does, on the connection's
   * event loop.
   */
  public void resets(long stream) {
    unprovoked.add(stream);
  }

  /** Returns whether a stream that is closed now was noted so. */
  public boolean endsUnprovoked(long stream) {
    return unprovoked.remove(stream);
  }

  /** Counts a reset that the client provoked; whether it may provoke others. */
  public boolean toleratesReset() {
    return toleratesReset.getAsBoolean();
  }

  /** Nothing is counted for the connection any more, on its event loop. */
  public void closed() {
    giveBack(0);
    room = StreamQuota.UNLIMITED;
  }

  /**
   * Checks that the server has room for the request that has begun last.
   *
   * @throws LectusException service_unavailable: its connection has others, and there are too many
   */
  public void checkRoom() {
    if (isCrowded) {
      throw LectusException.unavailable("Too many connections and requests are open.");
    }
  }

  /**
   * Whether the next bytes belong to a new request, and not to the body of one that was answered
   * already. On the connection's event loop.
   */
  public boolean isReadToEnd() {
    if (isRead != null && isRead.getAsBoolean()) {
      isRead = null;
    }
    return isRead == null;
  }

  /** Returns how many requests have begun, the current one included. */
  public long requestsBegun() {
    return requestsBegun;
  }

  public boolean isIdle() {
    return requests == 0;
  }

  /** Returns since when the connection is idle, by {@link System#nanoTime}, if it is. */
  public long idleSinceNanos() {
    return idleSinceNanos;
  }

  /**
   * Whether the connection speaks HTTP/2, where frames other than requests arrive between requests.
   */
  public boolean isMultiplexed() {
    return isMultiplexed;
  }
}
