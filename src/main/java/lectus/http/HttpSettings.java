package lectus.http;

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
    WebSocketSettings webSockets) {}
