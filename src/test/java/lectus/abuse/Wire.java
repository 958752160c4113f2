package lectus.abuse;

import java.nio.charset.StandardCharsets;
import lectus.http.testing.Frames;

/** The bytes of HTTP and WebSockets that the attacks send. */
final class Wire {
  private static final String HOST = " HTTP/1.1\r\nHost: 127.0.0.1\r\n";

  private Wire() {}

  static String get(String target) {
    return "GET " + target + HOST + "\r\n";
  }

  static String request(String method, String target, String json) {
    int length = json.getBytes(StandardCharsets.UTF_8).length;
    return head(method, target, length) + json;
  }

  /** Returns a request without its body, which has so many bytes. */
  static String head(String method, String target, long length) {
    return method
        + ' '
        + target
        + HOST
        + "Content-Type: application/json\r\nContent-Length: "
        + length
        + "\r\n\r\n";
  }

  static String upgrade(String target) {
    return "GET "
        + target
        + HOST
        + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n";
  }

  /** Returns a subscription to the changes of some databases, in a frame. */
  static byte[] subscribe(String id, String db, String more) {
    return Frames.text(
        "{\"type\":\"subscribe\",\"id\":\"" + id + "\",\"db\":\"" + db + "\"" + more + "}");
  }
}
