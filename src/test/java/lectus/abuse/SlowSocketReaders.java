package lectus.abuse;

import java.util.Random;

/** WebSockets with large subscriptions whose clients hardly read. */
record SlowSocketReaders(int clients) implements Attack {
  private static final int RECEIVE_BYTES = 4_096;
  private static final int SUBSCRIPTIONS = 20;

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd = new Crowd(clients, () -> subscribed(target))) {
      while (!deadline.isOver()) {
        crowd.turn(dice.nextInt(500));
        deadline.pause(100);
      }
    }
  }

  private static Line subscribed(Target target) {
    Line line = Line.to(target, RECEIVE_BYTES).say(Wire.upgrade("/_changes"));
    for (int i = 0; i < SUBSCRIPTIONS; i++) {
      line.say(Wire.subscribe("s" + i, i % 2 == 0 ? "large" : "*", ",\"include_docs\":true"));
    }
    return line;
  }
}
