package lectus.json;

import lectus.error.LectusException;

/** The errors for exceeded {@link JsonLimits}: 413 {@code document_too_large}. */
final class TooLarge {
  private TooLarge() {}

  static LectusException value(String path, long bytes, int limit) {
    return error(
        "The value of " + path + " takes " + bytes + " bytes, the limit is " + limit + ".");
  }

  static LectusException string(String path, int characters, int limit) {
    return error(
        "The string "
            + path
            + " has "
            + characters
            + " characters, the limit of a document is "
            + limit
            + " bytes.");
  }

  static LectusException path(String path, int bytes, int limit) {
    return error("The path " + path + " takes " + bytes + " bytes, the limit is " + limit + ".");
  }

  static LectusException document(long bytes, int limit) {
    return error("The document has " + bytes + " bytes of JSON, the limit is " + limit + ".");
  }

  private static LectusException error(String reason) {
    return LectusException.tooLarge("document_too_large", reason);
  }
}
