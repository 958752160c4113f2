package lectus.abuse.fuzz;

import java.util.List;
import java.util.Random;

/** Random choices from a seed. */
final class Dice {
  private final Random random;

  Dice(long seed) {
    random = new Random(seed);
  }

  /** Returns true once in so many throws. */
  boolean oneIn(int throwsOfIt) {
    return random.nextInt(throwsOfIt) == 0;
  }

  /** Returns a number from 0 to below the bound. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  long any() {
    return random.nextLong();
  }

  <T> T of(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  @SafeVarargs
  final <T> T of(T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
