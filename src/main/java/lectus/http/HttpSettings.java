package lectus.http;

import java.util.OptionalLong;
import lectus.http.socket.WebSocketSettings;

/**
 * What a server's administrator decides about HTTP.
 *
 * @param maxRequestBytes longest request body, compressed or not, in bytes
 * @param maxUriLength longest request URI, in bytes
 * @param maxHeaderBytes all header fields of a request together, in bytes
 * @param idleTimeoutSeconds after how long a connection without traffic is closed; 0: never
 * @param stalledSeconds after how long a client that takes nothing of what waits for it is closed
 *     while others lack the memory that it holds
 * @param headSeconds how long a request's head may take from its first byte to its last, and the
 *     first one of a connection from its beginning
 * @param slowBodySeconds how long a request's body may take at whatever rate; behind them it has to
 *     come with 1 000 bytes a second
 * @param requestSeconds how long a request waits, for a thread and for a store that is silent
 * @param maxUuids how many {@code _uuids} gives at once
 * @param version of the server, as {@code GET /} tells it
 */
public record HttpSettings(
    int maxRequestBytes,
    int maxUriLength,
    int maxHeaderBytes,
    int idleTimeoutSeconds,
    int stalledSeconds,
    int headSeconds,
    int slowBodySeconds,
    int requestSeconds,
    int maxUuids,
    boolean accessLog,
    String version,
    HostSettings hosts,
    CorsSettings cors,
    WebSocketSettings webSockets) {
  /** Who asks for signs of life more often gets them so often: each costs a system call. */
  public static final long SHORTEST_HEARTBEAT_MILLIS = 1_000;

  /** A day. Who asks for signs of life more rarely, or for none, gets them so often. */
  public static final long LONGEST_HEARTBEAT_MILLIS = 86_400_000;

  /**
   * How often the client of a WebSocket is pinged: as it wants, but at least as the administrator
   * says, and before the connection is closed for want of traffic.
   */
  public long pingMillis(OptionalLong heartbeatMillis) {
    long most = Math.min(webSockets.pingSeconds() * 1_000L, longestSilenceMillis());
    return Math.min(Math.max(heartbeatMillis.orElse(most), SHORTEST_HEARTBEAT_MILLIS), most);
  }

  /**
   * A connection without traffic is closed, so the heart of a live feed has to beat before: after
   * so many milliseconds at the latest.
   */
  public long longestSilenceMillis() {
    return idleTimeoutSeconds == 0 ? LONGEST_HEARTBEAT_MILLIS : idleTimeoutSeconds * 500L;
  }
}
