package lectus.abuse;

import java.util.List;
import java.util.Random;

/** Clients that read large answers a few bytes at a time. */
record SlowReaders(int clients) implements Attack {
  private static final List<String> LARGE =
      List.of(
          "/large/_changes?include_docs=true",
          "/large/_changes?include_docs=true&feed=continuous",
          "/large/_changes?include_docs=true&feed=longpoll",
          "/large/_all_docs?include_docs=true",
          "/large/text0");

  private static final int RECEIVE_BYTES = 4_096;

  @Override
  public void run(Target target, Random dice, Deadline deadline) {
    try (Crowd crowd =
        new Crowd(
            clients,
            () ->
                Line.to(target, RECEIVE_BYTES)
                    .say(Wire.get(LARGE.get(dice.nextInt(LARGE.size())))))) {
      while (!deadline.isOver()) {
        crowd.turn(dice.nextInt(500));
        deadline.pause(100);
      }
    }
  }
}
