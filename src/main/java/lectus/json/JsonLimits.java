package lectus.json;

/**
 * The limits on one document's body. They measure what the store receives, so the store never
 * refuses what they accept. Exceeding one is answered with 413 {@code document_too_large}.
 *
 * @param stringBytes a leaf's value in tuple encoding: a string's UTF-8 bytes, each NUL twice, and
 *     two bytes around it. A value of more than {@value #STORE_VALUE_BYTES} bytes is stored in
 *     several ({@link StringParts}).
 * @param pathBytes a leaf's path in tuple encoding: a member's name costs its UTF-8 bytes, each NUL
 *     twice, and two more; an array position one to five bytes. Independently of this limit, the
 *     whole key stays within {@value #STORE_KEY_BYTES}: {@code keyOverhead}, the path, and what the
 *     pieces of a string add to it.
 * @param documentBytes the body as the server writes it: without white space, with the fewest
 *     escapes, without members that a later one of the same name replaces, without {@code _members}
 * @param keyOverhead bytes of each leaf's key before the path
 */
public record JsonLimits(int stringBytes, int pathBytes, int documentBytes, int keyOverhead) {

  /** FoundationDB's limit on values, in bytes. */
  public static final int STORE_VALUE_BYTES = 100_000;

  /** FoundationDB's limit on keys, in bytes. */
  public static final int STORE_KEY_BYTES = 10_000;

  /** The largest document that certainly fits into one transaction, in bytes of JSON. */
  public static final int MAX_DOCUMENT_BYTES = 9_300_000;

  private static final int COUCHDB_DOCUMENT_BYTES = 8_000_000;
  private static final int RFC004_DOCUMENT_BYTES = 1_000_000;

  /** More bytes than any string has that can be stored. */
  static final long TRANSACTION_BYTES = 9_700_000;

  public JsonLimits {
    within("stringBytes", stringBytes, Integer.MAX_VALUE);
    within("pathBytes", pathBytes, STORE_KEY_BYTES);
    within("documentBytes", documentBytes, Integer.MAX_VALUE);
    if (keyOverhead < 0 || keyOverhead >= STORE_KEY_BYTES) {
      throw new IllegalArgumentException("keyOverhead leaves no room for a path: " + keyOverhead);
    }
  }

  /** Returns CouchDB's limits: documents of 8 000 000 bytes, and strings as long as a document. */
  public static JsonLimits couchDb() {
    return new JsonLimits(Integer.MAX_VALUE, STORE_KEY_BYTES, COUCHDB_DOCUMENT_BYTES, 0);
  }

  /** RFC 004, "Key Changes": documents of 1 000 000 bytes, each leaf in one key-value. */
  public static JsonLimits rfc004() {
    return new JsonLimits(STORE_VALUE_BYTES, STORE_KEY_BYTES, RFC004_DOCUMENT_BYTES, 0);
  }

  public JsonLimits withDocumentBytes(int bytes) {
    return new JsonLimits(stringBytes, pathBytes, bytes, keyOverhead);
  }

  public JsonLimits withKeyOverhead(int bytes) {
    return new JsonLimits(stringBytes, pathBytes, documentBytes, bytes);
  }

  /**
   * @param path in its first {@code length} bytes
   * @param valueBytes bytes of the leaf's value; 0 while unknown
   */
  void checkPath(byte[] path, int length, int valueBytes) {
    int pieces = StringParts.areNeeded(valueBytes) ? StringParts.MAX_KEY_BYTES : 0;
    int longest = Math.min(pathBytes, STORE_KEY_BYTES - keyOverhead - pieces);
    if (length > longest) {
      throw TooLarge.path(PathText.of(path, length), length, longest);
    }
  }

  /** Returns the longest path, with what the pieces of a string add to it. */
  int longestKey() {
    return Math.min(pathBytes, STORE_KEY_BYTES - keyOverhead);
  }

  private static void within(String name, long value, long most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " must lie between 1 and " + most + ": " + value);
    }
  }
}
