package lectus.abuse;

import java.util.Random;
import lectus.abuse.fuzz.Malformed;

/** Sockets on which what is no frame or no message comes, from clients that come back at once. */
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
