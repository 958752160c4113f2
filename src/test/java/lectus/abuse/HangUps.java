package lectus.abuse;

import java.util.Random;

/**
 * Clients that leave half-way: while they read, while they send, during a WebSocket's handshake.
 */
record HangUps(int clients) implements Attack {
  private static final int RECEIVE_BYTES = 4_096;

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd = new Crowd(clients, () -> begun(target, dice))) {
      while (!deadline.isOver()) {
        crowd.turn(2_000);
        // Each stays for about half a second.
        crowd.forEach(
            line -> {
              if (dice.nextInt(10) == 0) {
                line.close();
              }
            });
        deadline.pause(50);
      }
    }
  }

  private static Line begun(Target target, Random dice) {
    Line line = Line.to(target, RECEIVE_BYTES);
    return switch (dice.nextInt(8)) {
      case 0 -> line.say(Wire.head("POST", "/large/_bulk_docs", 1 << 20)).say("{\"docs\":[");
      case 1 -> line.say(Wire.upgrade("/_changes")).say(Wire.subscribe("a", "large", ""));
      case 2 -> line.say(Wire.get("/large/_changes?feed=continuous&include_docs=true"));
      case 3 -> line.say("GET /large/_chan");
      default -> line.say(Wire.get("/large/_changes?include_docs=true"));
    };
  }
}
