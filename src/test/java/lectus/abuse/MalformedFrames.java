package lectus.abuse;

import java.util.Random;
import lectus.abuse.fuzz.Malformed;

/** Sockets with invalid frames and messages, from clients that reconnect at once. */
record MalformedFrames(int clients) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    Malformed frames = new Malformed(dice.nextLong());
    try (Crowd crowd =
        new Crowd(
            clients,
            () -> Line.to(target, 0).say(Wire.upgrade("/_changes")).say(frames.nextFrame()))) {
      while (!deadline.isOver()) {
        crowd.turn(64 << 10);
        crowd.forEach(
            line -> {
              if (dice.nextInt(5) == 0) {
                line.close();
              }
            });
        deadline.pause(20);
      }
    }
  }
}
