package lectus.abuse;

import java.util.Random;

/** A database that is resharded all the time while documents are written to it. */
record ReshardingStorm(int clients) implements Attack {

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd =
        new Crowd(clients, () -> Line.to(target, 0).say(Wire.request("PUT", "/sharded", "")))) {
      while (!deadline.isOver()) {
        crowd.turn(64 << 10);
        crowd.forEach(
            line -> {
              if (line.hasSaidAll()) {
                line.say(next(dice));
              }
            });
        deadline.pause(20);
      }
    }
  }

  private static String next(Random dice) {
    return switch (dice.nextInt(3)) {
      case 0 ->
          Wire.request(
              "PUT", "/sharded/_changes/_meta", "{\"shards\":" + (1 + dice.nextInt(16)) + "}");
      case 1 -> Wire.request("POST", "/sharded", "{\"a\":" + dice.nextInt() + "}");
      default -> Wire.get("/sharded/_changes?limit=10");
    };
  }
}
