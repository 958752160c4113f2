package lectus.http.exchange;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Ids that name a request in its answer and in the log: the client's own, so that it finds its
 * requests again, else ten random lower-case hex digits.
 */
final class RequestIds {
  /** CouchDB's limit, the length of a UUID with its hyphens. */
  private static final int LONGEST = 36;

  private static final int DIGITS = 10;
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private RequestIds() {}

  /**
   * @param chosen the client's header; null if absent. An id that is too long, or has characters
   *     that could be misread in a log, counts as absent.
   */
  static String of(String chosen) {
    return chosen != null && isLegal(chosen) ? chosen : random();
  }

  private static boolean isLegal(String chosen) {
    return !chosen.isEmpty()
        && chosen.length() <= LONGEST
        && chosen.chars().allMatch(RequestIds::isPlain);
  }

  private static boolean isPlain(int c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '-'
        || c == '_';
  }

  private static String random() {
    long random = ThreadLocalRandom.current().nextLong();
    char[] id = new char[DIGITS];
    for (int i = 0; i < DIGITS; i++) {
      id[i] = HEX[(int) (random >>> (4 * i)) & 0xf];
    }
    return new String(id);
  }
}
