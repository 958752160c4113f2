package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;

/** Builds a request: its request line, headers of all sorts, its body in one piece or in chunks. */
final class RequestWriter {
  private static final int LONGEST_CHUNK = 5_000;

  private final Dice dice;
  private final JsonText json;

  RequestWriter(Dice dice, JsonText json) {
    this.dice = dice;
    this.json = json;
  }

  /**
   * @param body null: none
   */
  FuzzRequest write(String method, String target, byte[] body) {
    StringBuilder head = new StringBuilder(method + ' ' + target + " HTTP/1.1\r\n");
    boolean upgrading = dice.oneIn(250);
    header(head, "Host", "127.0.0.1");
    if (method.equals("COPY") || dice.oneIn(300)) {
      destination(head);
    }
    for (int i = dice.below(6) / 3; i > 0; i--) {
      oddHeader(head);
    }
    if (upgrading) {
      upgrade(head);
    }
    byte[] framed = body == null ? new byte[0] : framed(head, body);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes((head + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    bytes.writeBytes(framed);
    boolean live = upgrading || isLive(target);
    FuzzRequest.Kind kind = live ? FuzzRequest.Kind.LIVE : FuzzRequest.Kind.WHOLE;
    return new FuzzRequest(kind, bytes.toByteArray(), method.equals("HEAD"));
  }

  private static boolean isLive(String target) {
    return target.toLowerCase(Locale.ROOT).contains("feed=");
  }

  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }

  private void destination(StringBuilder head) {
    String rev = dice.oneIn(3) ? "?rev=" + Names.encoded(json.revision(), dice) : "";
    header(head, "Destination", Names.encoded(Names.document(dice), dice) + rev);
  }

  private void oddHeader(StringBuilder head) {
    switch (dice.below(14)) {
      case 0 -> header(head, "If-Match", quoted(json.revision()));
      case 1 -> header(head, "If-None-Match", dice.of("*", "\"\"", quoted(json.revision())));
      case 2 ->
          header(
              head,
              "Accept",
              dice.of(
                  "*/*",
                  "application/json",
                  "multipart/mixed",
                  "text/html;q=0.5, */*;q=0.1",
                  "multipart/related, */*",
                  "a/b;q=x",
                  ";;;",
                  ""));
      case 3 -> header(head, "X-Couch-Request-ID", dice.of("abc", "a".repeat(37), "x y", ""));
      case 4 -> header(head, "X-Couch-Full-Commit", dice.of("true", "false", "odd"));
      case 5 ->
          header(head, "Authorization", dice.of("Basic YTpi", "Basic %", "Bearer x", "Basic"));
      case 6 ->
          header(head, "Cookie", dice.of("AuthSession=", "AuthSession=YQ==", "a=b; c", ";=;"));
      case 7 ->
          header(head, "Origin", dice.of("http://127.0.0.1", "null", "https://evil.example", "x"));
      case 8 -> header(head, "Range", dice.of("bytes=0-1", "bytes=9-", "odd=1", "bytes=-"));
      case 9 -> header(head, "Last-Event-ID", dice.of("0", "now", "", "x".repeat(500)));
      case 10 -> header(head, "Accept-Encoding", dice.of("gzip", "gzip;q=0, *", "br", "*;q=x"));
      case 11 -> header(head, "X-Forwarded-Host", dice.of("a.example", "a b", "a:x", "[::1]:5"));
      case 12 -> header(head, "X-HTTP-Method-Override", dice.of("PUT", "DELETE", "ODD"));
      default -> header(head, "X-Long", "v".repeat(dice.below(9_000)));
    }
  }

  /** Header values have to be printable for the request to be well formed. */
  private static String quoted(String text) {
    return '"' + text.replaceAll("[^ -~]", "?") + '"';
  }

  private void upgrade(StringBuilder head) {
    header(head, "Connection", "Upgrade");
    header(head, "Upgrade", dice.of("websocket", "h2c", "odd", "websocket, h2c"));
    header(head, "Sec-WebSocket-Version", dice.of("13", "8", "x"));
    header(head, "Sec-WebSocket-Key", dice.of("AAAAAAAAAAAAAAAAAAAAAA==", "x", ""));
    if (dice.oneIn(2)) {
      header(head, "Sec-WebSocket-Protocol", dice.of("lectus.changes.v1", "odd", ",", "a, b"));
    }
    if (dice.oneIn(3)) {
      header(head, "HTTP2-Settings", dice.of("AAMAAABkAAQCAAAAAAIAAAAA", "x", ""));
    }
  }

  private byte[] framed(StringBuilder head, byte[] body) {
    if (!dice.oneIn(20)) {
      header(
          head,
          "Content-Type",
          dice.oneIn(15)
              ? dice.of(
                  "text/plain",
                  "application/x-www-form-urlencoded",
                  "multipart/form-data",
                  "multipart/related; boundary=a",
                  "multipart/related",
                  "application/json;charset=x",
                  "a",
                  ";",
                  "application/octet-stream")
              : "application/json");
    }
    byte[] sent = body;
    if (dice.oneIn(40)) {
      String coding = dice.of("gzip", "gzip", "identity", "deflate", "br");
      header(head, "Content-Encoding", coding);
      sent = coding.equals("gzip") && !dice.oneIn(4) ? gzip(body) : body;
    }
    if (dice.oneIn(60)) {
      header(head, "Expect", dice.of("100-continue", "odd"));
    }
    if (dice.oneIn(10)) {
      header(head, "Transfer-Encoding", "chunked");
      return chunked(sent);
    }
    header(head, "Content-Length", Integer.toString(sent.length));
    return sent;
  }

  private static byte[] gzip(byte[] body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
      zip.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private byte[] chunked(byte[] body) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = 0; at < body.length; ) {
      int end = Math.min(body.length, at + 1 + dice.below(LONGEST_CHUNK));
      String extension = dice.oneIn(10) ? ";a=b" : "";
      out.writeBytes(ascii(Integer.toHexString(end - at) + extension + "\r\n"));
      out.writeBytes(Arrays.copyOfRange(body, at, end));
      out.writeBytes(ascii("\r\n"));
      at = end;
    }
    out.writeBytes(ascii(dice.oneIn(10) ? "0\r\nX-Trailer: x\r\n\r\n" : "0\r\n\r\n"));
    return out.toByteArray();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
