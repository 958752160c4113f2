package lectus.abuse.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import lectus.http.testing.Frames;

/** Messages of {@code lectus.changes.v1}, both as clients send them and as they should not. */
final class Messages {
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
