package lectus.abuse;

import java.util.Random;
import lectus.abuse.fuzz.Malformed;

/** Invalid HTTP, from clients that reconnect at once. */
record MalformedHttp(int clients) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    Malformed requests = new Malformed(dice.nextLong());
    try (Crowd crowd = new Crowd(clients, () -> Line.to(target, 0).say(requests.next()))) {
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
