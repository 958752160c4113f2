package lectus.http;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The administrator's settings of HTTP.
 *
 * @param maxRequestBytes longest request body, compressed or not, in bytes
 * @param maxHeldBytes longest one that is held as a whole, in bytes
 * @param maxUriLength longest request URI, in bytes
 * @param decodesPlus whether a plus sign in a path is a space
 * @param maxHeaderBytes all header fields of a request together, in bytes
 * @param maxStreams requests at a time on one HTTP/2 connection, live feeds included
 * @param idleTimeoutSeconds after how long a connection without traffic is closed; 0: never
 * @param stalledSeconds after how long a client that reads nothing of what waits for it is closed
 *     while others lack the memory that it holds
 * @param headSeconds how long a request's head may take from its first byte to its last; for the
 *     first request of a connection, from the connection's start
 * @param slowBodySeconds how long a request's body may take at any rate; after that it has to
 *     arrive at 1 000 bytes a second
 * @param requestSeconds how long a request waits, for a thread and for a store that is silent
 * @param maxUuids how many {@code _uuids} gives at once
 * @param utils the folder of an administration interface
 * @param hstsSeconds how long browsers shall use nothing but TLS; 0: nothing is said of it
 * @param version of the server, as {@code GET /} shows it
 * @param serverHeader the {@code Server} of all answers
 */
public record HttpSettings(
    long maxRequestBytes,
    int maxHeldBytes,
    int maxUriLength,
    boolean decodesPlus,
    int maxHeaderBytes,
    int maxStreams,
    int idleTimeoutSeconds,
    int stalledSeconds,
    int headSeconds,
    int slowBodySeconds,
    int requestSeconds,
    int maxUuids,
    CompressionSettings compression,
    LogSettings log,
    String version,
    String serverHeader,
    Optional<Path> utils,
    HostSettings hosts,
    ProxySettings proxies,
    int hstsSeconds,
    CorsSettings cors,
    AccessSettings access,
    WebSocketSettings webSockets) {
  /** Of the CouchDB API that the server speaks. Clients read it, and some refuse any other text. */
  public static final String API_VERSION = "3.5.2";

  /**
   * The shortest heartbeat; clients that ask for a shorter one get this one. Each costs a system
   * call.
   */
  public static final long SHORTEST_HEARTBEAT_MILLIS = 1_000;

  /** The longest heartbeat, a day; clients that ask for a longer one, or for none, get this one. */
  public static final long LONGEST_HEARTBEAT_MILLIS = 86_400_000;

  /**
   * Returns how often the client of a WebSocket is pinged: as it asks, but at least as often as the
   * administrator wants, and before the connection is closed as idle.
   */
  public long pingMillis(OptionalLong heartbeatMillis) {
    long most = Math.min(webSockets.pingSeconds() * 1_000L, longestSilenceMillis());
    return Math.min(Math.max(heartbeatMillis.orElse(most), SHORTEST_HEARTBEAT_MILLIS), most);
  }

  /**
   * Returns the longest interval, in milliseconds, between two heartbeats of a live feed. A
   * connection without traffic is closed, so the heartbeat has to come earlier.
   */
  public long longestSilenceMillis() {
    return idleTimeoutSeconds == 0 ? LONGEST_HEARTBEAT_MILLIS : idleTimeoutSeconds * 1_000L / 2;
  }
}
