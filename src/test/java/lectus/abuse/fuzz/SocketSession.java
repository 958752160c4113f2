package lectus.abuse.fuzz;

import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import lectus.abuse.fuzz.Fuzz.Findings;
import lectus.abuse.fuzz.Fuzz.Seen;
import lectus.abuse.fuzz.JsonText.Mutation;
import lectus.abuse.fuzz.Requests.FuzzRequest;
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

  /** Messages of {@code lectus.changes.v1}, both as clients send them and as they should not. */
  static final class Messages {
    private static final int IDS = 12;

    private final Dice dice;
    private final Seen seen;
    private final JsonText json;

    Messages(Dice dice, Seen seen) {
      this.dice = dice;
      this.seen = seen;
      json = new JsonText(dice, seen);
    }

    /** Returns a valid frame with any content. */
    byte[] next() {
      return switch (dice.below(30)) {
        case 0 -> Frames.masked(Frames.PING, true, dice.bytes(dice.below(126)));
        case 1 -> Frames.masked(Frames.PONG, true, dice.bytes(dice.below(126)));
        case 2, 3 -> inPieces(json.bytes(message()));
        default -> Frames.masked(Frames.TEXT, true, text());
      };
    }

    /**
     * Returns a frame after which the server closes the socket, or takes what follows for garbage.
     */
    byte[] last() {
      return switch (dice.below(14)) {
        case 0 -> Frames.unmasked(Frames.TEXT, text());
        case 1 -> Frames.masked(Frames.BINARY, true, text());
        case 2 -> Frames.masked(3 + dice.below(5), true, text());
        case 3 -> Frames.masked(11 + dice.below(5), true, text());
        case 4 -> Frames.frame(0xc1, true, text());
        case 5 -> Frames.masked(Frames.PING, true, dice.bytes(126 + dice.below(200)));
        case 6 -> Frames.masked(Frames.CONTINUATION, true, text());
        case 7 -> Frames.masked(Frames.PING, false, text());
        case 8 -> Frames.masked(Frames.CLOSE, true, dice.bytes(dice.below(4)));
        case 9 -> Frames.masked(Frames.TEXT, true, new byte[(256 << 10) + 1]);
        case 10 -> new byte[] {(byte) 0x81, (byte) 0xff, (byte) 0xff, 0, 0, 0, 0, 0, 0, 1};
        case 11 ->
            new byte[] {(byte) 0x81, (byte) 0xff, 0x7f, -1, -1, -1, -1, -1, -1, -1, 1, 2, 3, 4};
        case 12 -> Mutation.of(Frames.masked(Frames.TEXT, true, text()), dice);
        default -> dice.bytes(1 + dice.below(60));
      };
    }

    private byte[] text() {
      // Text that is not UTF-8 closes the socket: rarely, so that there is something to close.
      byte[] text = message().getBytes(StandardCharsets.UTF_8);
      return dice.oneIn(8) ? Mutation.of(text, dice) : text;
    }

    private byte[] inPieces(byte[] text) {
      int middle = dice.below(text.length + 1);
      byte[] first = java.util.Arrays.copyOf(text, middle);
      byte[] second = java.util.Arrays.copyOfRange(text, middle, text.length);
      java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
      out.writeBytes(Frames.masked(Frames.TEXT, false, first));
      if (dice.oneIn(3)) {
        out.writeBytes(Frames.masked(Frames.PING, true, new byte[0]));
      }
      out.writeBytes(Frames.masked(Frames.CONTINUATION, true, second));
      return out.toByteArray();
    }

    private String message() {
      return switch (dice.below(12)) {
        case 0 -> json.anything();
        case 1, 2 -> "{\"type\":\"unsubscribe\",\"id\":" + id() + "}";
        case 3, 4 -> "{\"type\":\"credit\",\"id\":" + id() + ",\"n\":" + or("5") + "}";
        default -> subscribe();
      };
    }

    private String or(String right) {
      return dice.oneIn(15) ? json.value(1) : right;
    }

    private String id() {
      return or("\"s" + dice.below(IDS) + "\"");
    }

    private String subscribe() {
      List<String> members = new ArrayList<>();
      members.add("\"type\":\"subscribe\"");
      members.add("\"id\":" + id());
      members.add("\"db\":" + or(scope()));
      add(members, 2, "since", "\"" + dice.of("0", "now", seen.sequence(dice)) + "\"");
      add(members, 2, "credits", Integer.toString(dice.below(20)));
      add(members, 3, "include_docs", dice.of("true", "false"));
      add(members, 6, "conflicts", "true");
      add(members, 6, "style", dice.of("\"all_docs\"", "\"main_only\""));
      add(members, 5, "selector", json.selector(3));
      add(members, 6, "doc_ids", json.idList());
      add(members, 6, "fields", "[\"a1\",\"b.c\"]");
      add(members, 4, "limit", Integer.toString(dice.below(20)));
      add(members, 6, "heartbeat", dice.of("1", "1000", "60000", "true", "false", "2147483647"));
      return "{" + String.join(",", members) + "}";
    }

    private void add(List<String> members, int throwsOfIt, String name, String value) {
      if (dice.oneIn(throwsOfIt)) {
        members.add("\"" + name + "\":" + or(value));
      }
    }

    private String scope() {
      return switch (dice.below(8)) {
        case 0 -> "\"f*\"";
        case 1 -> "\"*\"";
        case 2 -> "[\"f0\",\"f1\",\"none\"]";
        case 3 -> "[\"f*\",\"g*\"]";
        case 4 -> dice.of("\"\"", "[]", "\"**\"", "\"F*\"", "[\"*\",1]", "\"f0/*\"", "\"_users\"");
        default -> "\"f" + dice.below(6) + "\"";
      };
    }
  }
}
