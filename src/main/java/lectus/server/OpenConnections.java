package lectus.server;

import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the connections of all event loops together. Beyond the bound the one goes that has been
 * idle for longest; where none is idle, a new one is refused. One that has just come is not idle,
 * or whoever comes behind it would take its place before it can say a word. For any thread.
 */
final class OpenConnections {
  /**
   * How many are looked at for one to go, so that a refusal does not cost more with each client.
   */
  private static final int LOOKED_AT = 256;

  /** So long a new one has to send its first request, whoever comes behind it. */
  private static final long NEW_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** One of them. */
  interface Connection {
    /** Whether nobody is served on it. Asked on any thread. */
    boolean isIdle();

    /** Since when, by {@link System#nanoTime}. */
    long idleSinceNanos();

    /** Whether there has been a request on it, be it that it is not answered. */
    boolean hasBeenUsed();

    /** Closes it; told once, on any thread. */
    void evict();
  }

  /**
   * A connection in its place.
   *
   * @param stampNanos since when it may have been idle at the earliest: requests that came since
   *     are looked for only when somebody has to go
   */
  private record Place(Connection connection, long stampNanos, long number) {}

  private final int most;
  private final long newNanos;
  private final TreeSet<Place> places =
      new TreeSet<>(Comparator.comparingLong(Place::stampNanos).thenComparingLong(Place::number));
  private final Map<Connection, Place> byConnection = new IdentityHashMap<>();
  private long admitted;

  OpenConnections(int most) {
    this(most, NEW_NANOS);
  }

  OpenConnections(int most, long newNanos) {
    this.most = most;
    this.newNanos = newNanos;
  }

  /** Whether a new connection is taken; if it is, {@link #closed} has to be told of its end. */
  synchronized boolean admit(Connection connection) {
    if (places.size() >= most && !makeRoom()) {
      return false;
    }
    place(connection, connection.idleSinceNanos());
    return true;
  }

  /** Takes back one that was to go, and came into use at the same moment. */
  synchronized void spared(Connection connection) {
    place(connection, System.nanoTime());
  }

  synchronized void closed(Connection connection) {
    Place place = byConnection.remove(connection);
    if (place != null) {
      places.remove(place);
    }
  }

  synchronized int count() {
    return places.size();
  }

  private void place(Connection connection, long stampNanos) {
    Place place = new Place(connection, stampNanos, admitted++);
    places.add(place);
    byConnection.put(connection, place);
  }

  /**
   * None has been idle for longer than its stamp says, so the first whose stamp is true goes. Where
   * that is not found soon, the one goes that has been idle for longest of those looked at.
   */
  private boolean makeRoom() {
    long now = System.nanoTime();
    Connection idlest = null;
    long idlestSince = now;
    for (int looked = 0; looked < LOOKED_AT; looked++) {
      Place first = places.first();
      Connection connection = first.connection();
      boolean idle = connection.isIdle() && !isNew(connection, now);
      long idleSince = idle ? connection.idleSinceNanos() : now;
      closed(connection);
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
    return evict(idlest);
  }

  private boolean evict(Connection connection) {
    if (connection == null) {
      return false;
    }
    closed(connection);
    connection.evict();
    return true;
  }

  private boolean isNew(Connection connection, long now) {
    return !connection.hasBeenUsed() && now - connection.idleSinceNanos() < newNanos;
  }
}
