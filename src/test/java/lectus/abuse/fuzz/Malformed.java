package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import lectus.abuse.fuzz.Fuzz.Seen;
import lectus.abuse.fuzz.JsonText.Mutation;
import lectus.abuse.fuzz.Requests.FuzzRequest;
import lectus.abuse.fuzz.SocketSession.Messages;

/** Bytes that no well-behaved client sends, from a seed. */
public final class Malformed {
  private final RawRequests requests;
  private final Messages messages;

  public Malformed(long seed) {
    Dice dice = new Dice(seed);
    Seen seen = new Seen();
    requests = new RawRequests(dice, new Requests(dice, seen));
    messages = new Messages(dice, seen);
  }

  /** Returns bytes to send instead of a request. */
  public byte[] next() {
    return requests.next().bytes();
  }

  /** Returns bytes to send instead of a frame of {@code lectus.changes.v1}. */
  public byte[] nextFrame() {
    return messages.last();
  }

  /** Bytes that reach an HTTP port without being HTTP. */
  static final class RawRequests {
    private static final String BEGIN = "GET /_up HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    private static final String POST =
        "POST /f0 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
    private static final String SOCKET =
        "Host: 127.0.0.1\r\n"
            + "Connection: Upgrade\r\n"
            + "Upgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n";

    private static final List<String> KNOWN =
        List.of(
            POST + "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
            POST
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: "
                + "t".repeat(40_000)
                + "\r\n\r\n",
            POST + "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            POST + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            POST + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
            POST + "Content-Length: -1\r\n\r\n{}",
            POST + "Content-Length: +2\r\n\r\n{}",
            POST + "Content-Length: 99999999999999999999\r\n\r\n{}",
            POST + "Content-Length: 9223372036854775807\r\n\r\n{}",
            POST + "Content-Length: 2, 2\r\n\r\n{}",
            POST + "Content-Length: 50\r\n\r\n{",
            "GET /_up HTTP/1.1\nHost: 127.0.0.1\n\n",
            "GET /_up HTTP/3.7\r\nHost: 127.0.0.1\r\n\r\n",
            "GET /_up HTTP/1.0\r\n\r\n",
            "GET /_up HTTP/0.9\r\n\r\n",
            "GET /_up\r\n\r\n",
            "GET\r\n\r\n",
            "get /_up HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET  /_up  HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET /_up HTTP/1.1\r\n\r\n",
            BEGIN + "Host: 127.0.0.1\r\n\r\n",
            "GET /_up HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            BEGIN + "X : y\r\n\r\n",
            BEGIN + "X: y\r\n folded\r\n\r\n",
            BEGIN + "X: a\u0000b\r\n\r\n",
            BEGIN + "X\u0000: b\r\n\r\n",
            BEGIN + ": b\r\n\r\n",
            BEGIN + "no colon\r\n\r\n",
            BEGIN + "Connection: close\r\n\r\nGET /_up HTTP/1.1\r\n",
            BEGIN
                + "Connection: Upgrade, HTTP2-Settings\r\n"
                + "Upgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
            "GET http://127.0.0.1/_up HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET http://[/_up HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET _up HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "M".repeat(5_000) + " / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "GET /" + "u".repeat(20_000) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            BEGIN + "X: " + "h".repeat(40_000) + "\r\n\r\n",
            BEGIN + "a: b\r\n".repeat(5_000) + "\r\n",
            "GET /\"x HTTP/1.1\r\n" + SOCKET,
            "GET /f0/_changes?\" HTTP/1.1\r\n" + SOCKET,
            "GET /f0/_changes?a=\"{}|^` HTTP/1.1\r\n" + SOCKET,
            "GET /_changes HTTP/1.1\r\n" + SOCKET + "\u0081\u0005abc",
            "GET /_changes HTTP/1.0\r\n" + SOCKET,
            "PUT /f0/\u001b[31m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\n"
                + "SM\r\n\r\n"
                + "\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000",
            "PRI * HTTP/2.0\r\n\r\n"
                + "SM\r\n\r\n"
                + "\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000\u00ff\u00ff\u00ff\u0001\u0005\u0000\u0000\u0000\u0001",
            "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
            "\r\n\r\n\r\n",
            "\u0000");

    private final Dice dice;
    private final Requests requests;

    RawRequests(Dice dice, Requests requests) {
      this.dice = dice;
      this.requests = requests;
    }

    FuzzRequest next() {
      byte[] bytes =
          switch (dice.below(6)) {
            case 0, 1 -> known();
            case 2 -> Mutation.of(known(), dice);
            case 3 -> dice.bytes(1 + dice.below(300));
            default -> withDamagedHead(requests.next().bytes());
          };
      return new FuzzRequest(FuzzRequest.Kind.RAW, bytes, false);
    }

    private byte[] known() {
      return dice.of(KNOWN).getBytes(StandardCharsets.ISO_8859_1);
    }

    private byte[] withDamagedHead(byte[] request) {
      int end = new String(request, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n") + 4;
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(Mutation.of(Arrays.copyOf(request, end), dice));
      out.write(request, end, request.length - end);
      return out.toByteArray();
    }
  }
}
