package lectus.server.connection;

import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.http.exchange.ClientConnection.StreamQuota;

/**
 * Limits the connections of all event loops together. At the limit, the connection that has been
 * idle for longest is evicted; if none is idle, a new one is refused. A new connection does not
 * count as idle, or the next one would take its place before it can send anything. If one network
 * floods the server with connections that send no request, its own go first. Thread-safe.
 */
final class OpenConnections implements StreamQuota {
  /**
   * The most connections that are examined for eviction, so that the cost of a refusal does not
   * grow with the number of clients.
   */
  private static final int LOOKED_AT = 256;

  /**
   * How long to refuse at once after so many were found busy: in a flood of new connections most of
   * the time would go into the search.
   */
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** How long a new connection has to send its first request without being evicted. */
  private static final long NEW_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** How many streams one culprit may have reset in so much time. */
  static final int MAX_RESETS = 1_000;

  private static final long RESETS_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** In a flood a new connection has this part of that time. */
  private static final int FLOOD_HASTE = 4;

  /** A connection that is counted. */
  interface Connection {
    /** Whether no request is being served on it. Called on any thread. */
    boolean isIdle();

    /** Returns since when it is idle, by {@link System#nanoTime}. */
    long idleSinceNanos();

    /** Whether it has had a request, answered or not. */
    boolean hasBeenUsed();

    /** Returns from where it comes: one address, or a network in which clients choose theirs. */
    String network();

    /**
     * Returns who may connect no more after too many resets: its client's network, or the
     * connection itself if a proxy's clients share the network.
     */
    Object culprit();

    /** Closes it; called once, on any thread. */
    void evict();
  }

  /**
   * A connection in the queue.
   *
   * @param stampNanos the earliest time since which it may have been idle: later requests are only
   *     looked for when a connection has to be evicted
   */
  private record Place(Connection connection, long stampNanos, long number) {}

  private final int most;
  private final AtomicInteger streams = new AtomicInteger();
  private final long newNanos;
  private final long restNanos;
  private final TreeSet<Place> places =
      new TreeSet<>(Comparator.comparingLong(Place::stampNanos).thenComparingLong(Place::number));
  private final Map<Connection, Place> byConnection = new IdentityHashMap<>();
  private final PendingConnections newcomers;
  private final Map<Object, Integer> resetsByCulprit = new HashMap<>();
  private long resetsSinceNanos = System.nanoTime();
  private long resets;
  private long admitted;
  private long refused;
  private long evicted;
  private long restSinceNanos;
  private boolean resting;

  OpenConnections(int most) {
    this(most, NEW_NANOS, REST_NANOS);
  }

  OpenConnections(int most, long newNanos, long restNanos) {
    this.most = most;
    this.newcomers = new PendingConnections(most);
    this.restNanos = restNanos;
    this.newNanos = newNanos;
  }

  /**
   * Returns whether a new connection is admitted; if so, {@link #closed} has to be called at its
   * end. None is admitted from where too many resets were provoked lately.
   */
  synchronized boolean admit(Connection connection) {
    if (refuses(connection)) {
      return false;
    }
    if (places.size() + streams.get() >= most && !makeRoomFor(connection)) {
      refused++;
      return false;
    }
    place(connection, connection.idleSinceNanos());
    newcomers.add(connection);
    return true;
  }

  /** Whether too many resets were provoked lately from where the connection comes. */
  synchronized boolean refuses(Connection connection) {
    boolean isRefused = isTooMany(resetsOf(connection));
    refused += isRefused ? 1 : 0;
    return isRefused;
  }

  /** Counts a stream that had to be reset; returns whether its connection may go on. */
  synchronized boolean toleratesReset(Connection connection) {
    resetsOf(connection);
    resets++;
    return !isTooMany(resetsByCulprit.merge(connection.culprit(), 1, Integer::sum));
  }

  private int resetsOf(Connection connection) {
    if (System.nanoTime() - resetsSinceNanos >= RESETS_NANOS) {
      resetsSinceNanos = System.nanoTime();
      resetsByCulprit.clear();
    }
    return resetsByCulprit.getOrDefault(connection.culprit(), 0);
  }

  private static boolean isTooMany(int resets) {
    return resets >= MAX_RESETS;
  }

  synchronized long resets() {
    return resets;
  }

  /** Takes back a connection that was to be evicted and came into use at the same moment. */
  synchronized void spared(Connection connection) {
    place(connection, System.nanoTime());
  }

  synchronized void closed(Connection connection) {
    resetsByCulprit.remove(connection);
    newcomers.remove(connection);
    removePlace(connection);
  }

  private void removePlace(Connection connection) {
    Place place = byConnection.remove(connection);
    if (place != null) {
      places.remove(place);
    }
  }

  /** A request beside others of its connection takes as much as a connection. */
  @Override
  public boolean take() {
    if (streams.incrementAndGet() + count() <= most) {
      return true;
    }
    streams.decrementAndGet();
    return false;
  }

  @Override
  public void free() {
    streams.decrementAndGet();
  }

  synchronized int count() {
    return places.size();
  }

  synchronized long refused() {
    return refused;
  }

  synchronized long evicted() {
    return evicted;
  }

  int most() {
    return most;
  }

  private void place(Connection connection, long stampNanos) {
    Place place = new Place(connection, stampNanos, admitted++);
    places.add(place);
    byConnection.put(connection, place);
  }

  private boolean makeRoomFor(Connection connection) {
    Optional<Connection> flooding = newcomers.oldestOfFlood();
    return flooding.isPresent() ? makeRoomFor(connection, flooding.get()) : makeRoom();
  }

  private boolean makeRoomFor(Connection connection, Connection flooding) {
    boolean isOfFlood = connection.network().equals(flooding.network());
    return (!isOfFlood || !isWithin(newNanos / FLOOD_HASTE, flooding)) && evict(flooding);
  }

  /**
   * No connection has been idle for longer than its stamp says, so the first one with a true stamp
   * is evicted. If none is found soon, the one that has been idle for longest among those examined
   * is.
   */
  private boolean makeRoom() {
    long now = System.nanoTime();
    if (resting && now - restSinceNanos < restNanos) {
      return false;
    }
    Connection idlest = null;
    long idlestSince = now;
    int looked = 0;
    while (looked < LOOKED_AT) {
      looked++;
      Place first = places.first();
      Connection connection = first.connection();
      boolean idle = connection.isIdle() && !isNew(connection);
      long idleSince = idle ? connection.idleSinceNanos() : now;
      removePlace(connection);
      if (idle && idleSince <= first.stampNanos()) {
        return evict(connection);
      }
      place(connection, idleSince);
      if (idle && (idlest == null || idleSince < idlestSince)) {
        idlest = connection;
        idlestSince = idleSince;
      }
      if (first.stampNanos() >= now) {
        break;
      }
    }
    resting = idlest == null && looked == LOOKED_AT;
    restSinceNanos = now;
    return evict(idlest);
  }

  private boolean evict(Connection connection) {
    if (connection == null) {
      return false;
    }
    closed(connection);
    evicted++;
    connection.evict();
    return true;
  }

  private boolean isNew(Connection connection) {
    return !connection.hasBeenUsed() && isWithin(newNanos, connection);
  }

  private static boolean isWithin(long nanos, Connection connection) {
    return System.nanoTime() - connection.idleSinceNanos() < nanos;
  }

  /**
   * The connections on which no request has begun, TLS handshakes included, by the networks that
   * they come from. A network that has a good part of all places taken up like that is a flood:
   * then its own newcomers take each other's places, the oldest first, and nobody else's. Not
   * thread-safe.
   */
  static final class PendingConnections {
    /** The part of all connections that one network may have without a request. */
    private static final int FLOOD_SHARE = 8;

    private static final int MIN_FLOOD = 8;

    /** The most that are looked at in search of one that still is a newcomer. */
    private static final int LOOKED_AT = 256;

    private final int flood;
    private final Map<Connection, Crowd> byConnection = new IdentityHashMap<>();
    private final Map<String, Crowd> byNetwork = new HashMap<>();
    private final TreeSet<Crowd> bySize =
        new TreeSet<>(
            Comparator.comparingInt((Crowd it) -> it.members.size()).thenComparing(Crowd::network));

    /**
     * @param most that may be open, newcomers or not
     */
    PendingConnections(int most) {
      this.flood = Math.max(MIN_FLOOD, most / FLOOD_SHARE);
    }

    /** Those of one network, in the order in which they came. */
    private record Crowd(String network, Set<Connection> members) {}

    void add(Connection connection) {
      Crowd crowd = byNetwork.computeIfAbsent(connection.network(), PendingConnections::crowd);
      bySize.remove(crowd);
      crowd.members().add(connection);
      bySize.add(crowd);
      byConnection.put(connection, crowd);
    }

    private static Crowd crowd(String network) {
      return new Crowd(network, new LinkedHashSet<>());
    }

    void remove(Connection connection) {
      Crowd crowd = byConnection.remove(connection);
      if (crowd == null) {
        return;
      }
      bySize.remove(crowd);
      crowd.members().remove(connection);
      if (crowd.members.size() == 0) {
        byNetwork.remove(crowd.network());
      } else {
        bySize.add(crowd);
      }
    }

    /** Returns the oldest newcomer of the largest flood; empty if there is none. */
    Optional<Connection> oldestOfFlood() {
      for (int looked = 0; looked < LOOKED_AT && isFlood(); looked++) {
        Connection oldest = bySize.last().members().iterator().next();
        if (!oldest.hasBeenUsed()) {
          return Optional.of(oldest);
        }
        remove(oldest);
      }
      return Optional.empty();
    }

    private boolean isFlood() {
      return !bySize.isEmpty() && bySize.last().members.size() >= flood;
    }
  }
}
