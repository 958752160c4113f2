package lectus.abuse;

import java.util.Random;

/** Databases that are created and dropped over one connection. */
record ManyDatabases(int databases) implements Attack {
  private static final int IN_A_TURN = 20;

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    int turn = 0;
    try (Crowd crowd = new Crowd(1, () -> Line.to(target, 0))) {
      while (!deadline.isOver()) {
        crowd.turn(1 << 20);
        int next = turn;
        crowd.forEach(
            line -> {
              for (int i = 0; i < IN_A_TURN && line.hasSaidAll(); i++) {
                line.say(createAndDrop(next * IN_A_TURN + i));
              }
            });
        turn++;
        deadline.pause(30);
      }
    }
  }

  /** Creates a database, and drops the one that was created so many databases before. */
  private String createAndDrop(int number) {
    return Wire.request("PUT", "/abuse-" + number % databases, "")
        + Wire.request("DELETE", "/abuse-" + (number + databases / 2) % databases, "");
  }
}
