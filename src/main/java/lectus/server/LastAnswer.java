package lectus.server;

import java.nio.charset.StandardCharsets;

/** An answer of a server that does not read the request; the connection ends behind it. */
final class LastAnswer {
  private LastAnswer() {}

  /**
   * @param status with its phrase, and header fields behind it if it needs any of its own
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
