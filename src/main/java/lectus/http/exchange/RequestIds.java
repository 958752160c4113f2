package lectus.http.exchange;

import java.util.concurrent.ThreadLocalRandom;

/** Ten random lower-case hex digits for each request. */
final class RequestIds {
  private static final int DIGITS = 10;
  private static final char[] HEX = "0123456789abcdef".toCharArray();

  private RequestIds() {}

  static String next() {
    long random = ThreadLocalRandom.current().nextLong();
    char[] id = new char[DIGITS];
    for (int i = 0; i < DIGITS; i++) {
      id[i] = HEX[(int) (random >>> 4 * i) & 0xf];
    }
    return new String(id);
  }
}
