package lectus.abuse.fuzz;

import java.nio.charset.StandardCharsets;
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

  /** Names: few, so that requests meet the same ones, and at times impossible ones. */
  static final class Names {
    /** Databases that are created, dropped and used at random. */
    private static final int DATABASES = 6;

    private static final int DOCUMENTS = 12;

    private static final List<String> ODD_DATABASES =
        List.of(
            "_users",
            "_replicator",
            "_global_changes",
            "A",
            "9",
            "a".repeat(238),
            "a".repeat(239),
            "f0/x",
            "f(0)",
            "ä",
            "_nothing",
            "f 0",
            "f0\u0000",
            "");

    private static final List<String> ODD_DOCUMENTS =
        List.of(
            "_design/d",
            "_design/",
            "_local/l",
            "_local/",
            "_local",
            "_design",
            "_odd",
            "ä€😀",
            "\uffff",
            "a/b",
            "a b",
            "x".repeat(512),
            "x".repeat(513),
            "\u0000",
            "p:1",
            "p:",
            ":",
            "%",
            "..",
            ".",
            "\"",
            "_design/d/att",
            "_local/l/att",
            "null",
            "{}",
            "\u001b[2J");

    private Names() {}

    static String database(Dice dice) {
      return dice.oneIn(25) ? dice.of(ODD_DATABASES) : "f" + dice.below(DATABASES);
    }

    static String document(Dice dice) {
      return dice.oneIn(6) ? dice.of(ODD_DOCUMENTS) : "doc" + dice.below(DOCUMENTS);
    }

    /** Encodes a part of a path or a query; now and then not as UTF-8, or not at all. */
    static String encoded(String text, Dice dice) {
      if (dice.oneIn(400)) {
        return dice.of(
            "%", "%zz", "%ff%fe", "%ed%a0%80", "%00", "%c0%80", "+", "a%2fb", ";", "%2e%2e");
      }
      StringBuilder out = new StringBuilder();
      for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
        char c = (char) (b & 0xff);
        if (c < 128 && (Character.isLetterOrDigit(c) || "-._~:*".indexOf(c) >= 0)) {
          out.append(c);
        } else {
          out.append(String.format("%%%02x", (int) c));
        }
      }
      return out.toString();
    }
  }
}
