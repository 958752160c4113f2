package lectus.http.document;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ids for new documents: 32 hex digits. The first 26 stay the same for a while and the others count
 * up by random steps, so that documents created in succession lie together (CouchDB's algorithm
 * "sequential"). Thread-safe.
 */
final class Uuids {
  private static final int PREFIX_BYTES = 13;
  private static final int COUNTER_END = 0xfff000;
  private static final int LONGEST_STEP = 0xffe;

  private String prefix;
  private int counter = COUNTER_END;

  synchronized String next() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (counter >= COUNTER_END) {
      byte[] bytes = new byte[PREFIX_BYTES];
      random.nextBytes(bytes);
      prefix = HexFormat.of().formatHex(bytes);
      counter = random.nextInt(LONGEST_STEP);
    }
    counter += 1 + random.nextInt(LONGEST_STEP);
    return prefix + HexFormat.of().toHexDigits(counter, 6);
  }
}
