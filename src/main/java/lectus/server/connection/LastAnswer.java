package lectus.server.connection;

import java.nio.charset.StandardCharsets;

/** An answer to a request that was not read; the connection closes after it. */
final class LastAnswer {
  /** A fatal alert, internal_error (RFC 8446, section 6), in a record of TLS. */
  private static final byte[] TLS_ALERT = {21, 3, 3, 0, 2, 2, 80};

  private LastAnswer() {}

  /** Returns an answer to a client that begins a TLS handshake. */
  static byte[] tlsAlert() {
    return TLS_ALERT.clone();
  }

  /**
   * @param status with its phrase, followed by additional header fields if there are any
   * @param reason plain ASCII without quotes
   */
  static byte[] bytes(String status, String error, String reason) {
    String body = "{\"error\":\"" + error + "\",\"reason\":\"" + reason + "\"}\n";
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n";
    return (head + body).getBytes(StandardCharsets.US_ASCII);
  }
}
