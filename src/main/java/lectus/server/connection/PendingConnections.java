package lectus.server.connection;

import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.server.connection.OpenConnections.Connection;

/**
 * The connections on which no request has begun, TLS handshakes included, by the networks that they
 * come from. A network that has a good part of all places taken up like that is a flood: then its
 * own newcomers take each other's places, the oldest first, and nobody else's. Not thread-safe.
 */
final class PendingConnections {
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
