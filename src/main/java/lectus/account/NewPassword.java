package lectus.account;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.account.PasswordHash.Pbkdf2Hash;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/** The member {@code password} of a user's document, which the server replaces by its hash. */
final class NewPassword {
  /** Longer ones are refused. Hashing takes no longer for them, but requests carry them. */
  static final int MAX_BYTES = 4_096;

  private static final String PASSWORD = "password";

  /** The members that a new password replaces. */
  private static final List<String> REPLACED =
      List.of(
          "derived_key",
          "iterations",
          PASSWORD,
          "password_scheme",
          "password_sha",
          "preserve_salt",
          "pbkdf2_prf",
          "salt");

  private NewPassword() {}

  /** Whether a password is to be replaced; null is none, as in CouchDB. */
  static boolean isIn(JsonObject members) {
    return members.get(PASSWORD).filter(value -> !(value instanceof JsonNull)).isPresent();
  }

  /** Whether an edit brings a password. */
  static boolean isIn(Edit edit) {
    UserDocumentRule.checkSize(edit);
    return isIn(UserMembers.of(edit.body()));
  }

  /**
   * Returns the edit with the hash of its password in place of the password. Takes time.
   *
   * @throws LectusException {@code forbidden}: it is no text, or too long
   */
  static Edit hashed(Edit edit, DocumentParser parser, int iterations) {
    JsonObject members = UserMembers.of(edit.body());
    String password =
        members
            .textOf(PASSWORD)
            .orElseThrow(() -> LectusException.forbidden("Password value is invalid."));
    checkLength(password);
    Map<String, JsonValue> hashed = new LinkedHashMap<>(members.members());
    REPLACED.forEach(hashed::remove);
    Pbkdf2Hash hash =
        preservedSalt(members)
            .map(salt -> Pbkdf2Hash.of(password, salt, iterations))
            .orElseGet(() -> Pbkdf2Hash.of(password, iterations));
    hashed.putAll(members(hash));
    return parser.rewritten(edit, new JsonObject(hashed).toBytes());
  }

  static boolean isTooLong(String password) {
    return password.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES;
  }

  /**
   * @throws LectusException {@code forbidden}
   */
  static void checkLength(String password) {
    if (isTooLong(password)) {
      throw LectusException.forbidden("A password has at most " + MAX_BYTES + " bytes.");
    }
  }

  private static Map<String, JsonValue> members(Pbkdf2Hash hash) {
    return Map.of(
        "password_scheme", new JsonString("pbkdf2"),
        "pbkdf2_prf", new JsonString(hash.function().couchName()),
        "salt", new JsonString(hash.salt()),
        "iterations", new JsonNumber(Integer.toString(hash.iterations())),
        "derived_key", new JsonString(hash.key()));
  }

  /** An upgrade of the hash keeps the salt, and with it the cookies that were signed with it. */
  private static Optional<String> preservedSalt(JsonObject members) {
    boolean isPreserved = members.get("preserve_salt").equals(Optional.of(new JsonBool(true)));
    return isPreserved
        ? members
            .textOf("salt")
            .filter(salt -> !salt.isEmpty() && salt.length() <= PasswordHash.LONGEST_SALT)
        : Optional.empty();
  }
}
