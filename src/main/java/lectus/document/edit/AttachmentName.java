package lectus.document.edit;

import java.nio.charset.StandardCharsets;
import lectus.error.LectusException;

/** What names and types of attachments may be. */
public final class AttachmentName {
  /** Maximum length of a name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 4_096;

  /** Maximum length of a type. */
  static final int MAX_TYPE_CHARACTERS = 1_024;

  private AttachmentName() {}

  /**
   * @return {@code name}
   * @throws LectusException {@code bad_request}; {@code too_large} (413)
   */
  public static String check(String name) {
    if (name.startsWith("_")) {
      throw LectusException.badRequest(
          "Attachment name '" + told(name) + "' starts with prohibited character '_'");
    }
    if (name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw tooLong("The name of an attachment has at most " + MAX_BYTES + " bytes.");
    }
    return name;
  }

  /**
   * As in CouchDB, a type is any text.
   *
   * @return {@code type}
   * @throws LectusException {@code too_large} (413)
   */
  public static String checkType(String type) {
    if (type.length() > MAX_TYPE_CHARACTERS) {
      throw tooLong(
          "The type of an attachment has at most " + MAX_TYPE_CHARACTERS + " characters.");
    }
    return type;
  }

  private static String told(String name) {
    int most = 100;
    return name.length() > most ? name.substring(0, most) + "…" : name;
  }

  private static LectusException tooLong(String reason) {
    return LectusException.tooLarge("too_large", reason);
  }
}
