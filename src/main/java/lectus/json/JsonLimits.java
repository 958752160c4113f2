package lectus.json;

/**
 * The limits of one document's body, RFC 004 "Key Changes". All count what the store gets to see,
 * so nothing that they let through can be refused by the store; broken, they answer 413 {@code
 * document_too_large}.
 *
 * @param stringBytes a leaf's value in tuple encoding: a string's UTF-8 bytes, each NUL twice, and
 *     two bytes around it. The store takes no more than {@value #STORE_VALUE_BYTES}.
 * @param pathBytes a leaf's path in tuple encoding: a member's name costs its UTF-8 bytes, each NUL
 *     twice, and two more; an array position one to five bytes. Independently of this limit the
 *     whole key, {@code keyOverhead} and path, stays within {@value #STORE_KEY_BYTES}.
 * @param documentBytes the body as the server writes it: without white space, with the fewest
 *     escapes, without members that a later one of the same name replaces, without {@code _members}
 * @param explodedBytes keys and values of all leaves, {@code keyOverhead} counted for each. Members
 *     that are replaced later count until their successor begins. Independently of this limit the
 *     leaves fit into one transaction: with {@value #MUTATION_BYTES} bytes for each they stay
 *     within {@value #TRANSACTION_BYTES}.
 * @param keyOverhead bytes of each leaf's key before the path
 */
public record JsonLimits(
    int stringBytes, int pathBytes, int documentBytes, long explodedBytes, int keyOverhead) {

  /** FoundationDB's limit on values, bytes. */
  public static final int STORE_VALUE_BYTES = 100_000;

  /** FoundationDB's limit on keys, bytes. */
  public static final int STORE_KEY_BYTES = 10_000;

  /**
   * What the leaves of a document may weigh in a transaction, bytes: FoundationDB's limit of 10 MB
   * less what the document's revision, its index entries and the counters take.
   */
  static final long TRANSACTION_BYTES = 9_700_000;

  /** What FoundationDB adds to each key-value that a transaction sets, bytes. */
  static final int MUTATION_BYTES = 44;

  public JsonLimits {
    within("stringBytes", stringBytes, STORE_VALUE_BYTES);
    within("pathBytes", pathBytes, STORE_KEY_BYTES);
    within("documentBytes", documentBytes, Integer.MAX_VALUE);
    within("explodedBytes", explodedBytes, Long.MAX_VALUE);
    if (keyOverhead < 0 || keyOverhead >= STORE_KEY_BYTES) {
      throw new IllegalArgumentException("keyOverhead leaves no room for a path: " + keyOverhead);
    }
  }

  /** RFC 004's limits, and 8 MB of key-values so that a document fits into one transaction. */
  public static JsonLimits defaults() {
    return new JsonLimits(STORE_VALUE_BYTES, STORE_KEY_BYTES, 1_000_000, 8_000_000, 0);
  }

  public JsonLimits withKeyOverhead(int bytes) {
    return new JsonLimits(stringBytes, pathBytes, documentBytes, explodedBytes, bytes);
  }

  /** The longest path that both the limit and the store take, bytes. */
  int longestPath() {
    return Math.min(pathBytes, STORE_KEY_BYTES - keyOverhead);
  }

  private static void within(String name, long value, long most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " must lie between 1 and " + most + ": " + value);
    }
  }
}
