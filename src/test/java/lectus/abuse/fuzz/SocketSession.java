package lectus.abuse.fuzz;

import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import lectus.http.testing.Connection;
import lectus.http.testing.Connection.Frame;
import lectus.http.testing.Frames;

/** One WebSocket of {@code lectus.changes.v1}, from its handshake to its bad end. */
final class SocketSession {
  private static final String HANDSHAKE =
      "GET /_changes HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
          + "Sec-WebSocket-Protocol: lectus.changes.v1\r\n\r\n";

  /** A defect's code, and codes that may not be sent (RFC 6455, section 7.4.1). */
  private static final Set<Integer> BAD_CODES = Set.of(1005, 1006, 1011, 1015);

  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final int port;
  private final Dice dice;
  private final Messages messages;
  private final Seen seen;
  private final Findings findings;
  private final String origin;
  private StringBuilder said = new StringBuilder();

  SocketSession(int port, Dice dice, Seen seen, Findings findings, String origin) {
    this.port = port;
    this.dice = dice;
    this.seen = seen;
    this.findings = findings;
    this.origin = origin;
    messages = new Messages(dice, seen);
  }

  /** Returns how many messages it sent. */
  int run() {
    int sent = 0;
    try (Connection connection = new Connection(port).write(HANDSHAKE)) {
      int status = connection.readHead().status();
      if (status != 101) {
        if (status != 503) {
          findings.add("handshake " + status, origin);
        }
        return 1;
      }
      boolean open = true;
      for (int turns = 1 + dice.below(6); turns > 0 && open; turns--) {
        int some = 1 + dice.below(12);
        sent += some;
        open = say(connection, some) && isAnswered(connection, turns);
      }
      if (open && dice.oneIn(2)) {
        sent++;
        say(connection, messages.last());
        drain(connection);
      }
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof SocketTimeoutException) {
        findings.add("no message", describe());
      }
    } catch (RuntimeException garbled) {
      findings.add("no WebSocket: " + garbled, describe());
    }
    return sent;
  }

  private boolean say(Connection connection, int count) {
    for (int i = 0; i < count; i++) {
      if (!say(connection, messages.next())) {
        return false;
      }
    }
    return true;
  }

  private boolean say(Connection connection, byte[] frame) {
    said.append(new FuzzRequest(FuzzRequest.Kind.RAW, unmasked(frame), false)).append('\n');
    try {
      connection.write(frame);
      return true;
    } catch (UncheckedIOException closed) {
      return false;
    }
  }

  /** Returns frames without their masks, if they have any, so that people can read them. */
  private static byte[] unmasked(byte[] frame) {
    byte[] copy = frame.clone();
    int at =
        copy.length < 2 || copy[1] >= 0
            ? copy.length
            : 6
                + switch (copy[1] & 0x7f) {
                  case 126 -> 2;
                  case 127 -> 8;
                  default -> 0;
                };
    for (int i = at; i < copy.length; i++) {
      copy[i] ^= copy[at - 4 + (i - at) % 4];
    }
    return copy;
  }

  /** Returns whether the socket is open and has answered everything before. */
  private boolean isAnswered(Connection connection, int turn) {
    String id = "sync" + turn;
    say(connection, Frames.text("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}"));
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (System.nanoTime() - deadline < 0) {
      Frame frame = connection.frame();
      if (frame.opcode() == Frames.CLOSE) {
        judge(frame);
        return false;
      }
      String text = new String(frame.payload(), StandardCharsets.UTF_8);
      if (frame.opcode() == Frames.TEXT && text.contains("\"" + id + "\"")) {
        return true;
      }
      if (text.contains("\"error\":\"internal")) {
        findings.add("internal error on a socket", describe());
      }
      seen.note(text);
    }
    findings.add("no answer to unsubscribe", describe());
    return false;
  }

  /** The last bytes sent may be a part of a frame only. */
  private void drain(Connection connection) {
    connection.endWriting();
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (System.nanoTime() - deadline < 0) {
      Frame frame = connection.frame();
      if (frame.opcode() == Frames.CLOSE) {
        judge(frame);
        return;
      }
    }
    findings.add("no close", describe());
  }

  private void judge(Frame close) {
    if (close.payload().length >= 2) {
      int code = (close.payload()[0] & 0xff) << 8 | (close.payload()[1] & 0xff);
      if (BAD_CODES.contains(code)) {
        String reason =
            new String(close.payload(), 2, close.payload().length - 2, StandardCharsets.UTF_8);
        findings.add("closed with " + code + " " + reason, describe());
      }
    }
  }

  private String describe() {
    int from = Math.max(0, said.length() - 6_000);
    return origin + ", said:\n" + said.substring(from);
  }
}
