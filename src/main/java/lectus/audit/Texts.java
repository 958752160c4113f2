package lectus.audit;

import com.apple.foundationdb.tuple.ByteArrayUtil;

/** Words findings. */
final class Texts {
  private static final int LONGEST_KEY = 120;

  private Texts() {}

  static String database(String name) {
    return "database \"" + name + "\"";
  }

  static String document(String database, String id) {
    return database(database) + ", document \"" + id + "\"";
  }

  static String key(byte[] key) {
    String text = ByteArrayUtil.printable(key);
    return text.length() <= LONGEST_KEY ? text : text.substring(0, LONGEST_KEY) + "…";
  }

  /** Returns the problem of a row that cannot be read. */
  static String unreadable(String what, byte[] key, RuntimeException why) {
    return what + " cannot be read (" + why.getMessage() + "), the key " + key(key);
  }
}
