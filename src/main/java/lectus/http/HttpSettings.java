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
 * @param maxUuids how many {@code _uuids} gives at once
 * @param version of the server, as {@code GET /} tells it
 */
public record HttpSettings(
    int maxRequestBytes,
    int maxUriLength,
    int maxHeaderBytes,
    int idleTimeoutSeconds,
    int maxUuids,
    boolean accessLog,
    String version,
    CorsSettings cors,
    WebSocketSettings webSockets) {

  /**
   * How often the client of a WebSocket is pinged: as it wants, but at least as the administrator
   * says, and before the connection is closed for want of traffic.
   */
  public long pingMillis(OptionalLong heartbeatMillis) {
    long most = Math.min(webSockets.pingSeconds() * 1_000L, longestSilenceMillis());
    return Math.min(heartbeatMillis.orElse(most), most);
  }

  /**
   * A connection without traffic is closed, so the heart of a live feed has to beat before: after
   * so many milliseconds at the latest.
   */
  public long longestSilenceMillis() {
    return idleTimeoutSeconds == 0 ? Long.MAX_VALUE : idleTimeoutSeconds * 500L;
  }
}
