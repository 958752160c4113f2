package lectus.abuse;

import java.util.Random;
import lectus.http.testing.Frames;

/** Sockets on which the most subscriptions that are allowed begin and end, again and again. */
record SubscriptionFlood(int clients, int subscriptions) implements Attack {
  private static final int IN_A_TURN = 40;

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd =
        new Crowd(clients, () -> Line.to(target, 0).say(Wire.upgrade("/_changes")))) {
      while (!deadline.isOver()) {
        crowd.turn(1 << 20);
        crowd.forEach(
            line -> {
              if (line.hasSaidAll()) {
                flood(line, dice);
              }
            });
        deadline.pause(50);
      }
    }
  }

  private void flood(Line line, Random dice) {
    for (int i = 0; i < IN_A_TURN; i++) {
      String id = "s" + dice.nextInt(subscriptions + 10);
      if (dice.nextInt(5) == 0) {
        line.say(Frames.text("{\"type\":\"unsubscribe\",\"id\":\"" + id + "\"}"));
      } else {
        String filter = ",\"since\":\"now\",\"doc_ids\":[\"" + dice.nextInt() + "\"]";
        line.say(Wire.subscribe(id, dice.nextBoolean() ? "large" : "*", filter));
      }
    }
  }
}
