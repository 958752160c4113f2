package lectus.account;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/** What is stored of a password, in one of CouchDB's schemes. */
sealed interface PasswordHash permits Pbkdf2Hash, SimpleHash {

  /** Salts are kept in memory with each attempt to log in, and CouchDB's have 32 characters. */
  int LONGEST_SALT = 256;

  /** Returns the form that CouchDB's section {@code [admins]} has. */
  String text();

  /** Returns about how many iterations of the current scheme take as long. */
  int iterations();

  /** The salt, with which cookies are signed, too. */
  String salt();

  /** Computes the hash of a password, which takes time, and compares. */
  boolean matches(String password);

  /**
   * Reads the form that CouchDB's section {@code [admins]} has.
   *
   * @return empty if it is another text, or cannot be used
   */
  static Optional<PasswordHash> of(String text) {
    return SimpleHash.of(text)
        .map(PasswordHash.class::cast)
        .or(() -> Pbkdf2Hash.of(text).map(PasswordHash.class::cast));
  }

  /** Whether a text claims to be a hash in CouchDB's form. */
  static boolean isClaimedBy(String text) {
    return text.startsWith(SimpleHash.HEAD)
        || text.startsWith(Pbkdf2Hash.HEAD)
        || text.startsWith(Pbkdf2Hash.NAMED_HEAD);
  }

  /**
   * Reads the members of a user's document.
   *
   * @return empty if nobody can log in with it
   */
  static Optional<PasswordHash> of(JsonObject user) {
    Optional<String> scheme = text(user, "password_scheme");
    if (scheme.isEmpty() || scheme.get().equals("simple")) {
      return SimpleHash.of(user).map(PasswordHash.class::cast);
    }
    return scheme.get().equals("pbkdf2")
        ? Pbkdf2Hash.of(user).map(PasswordHash.class::cast)
        : Optional.empty();
  }

  static Optional<String> text(JsonObject user, String member) {
    return user.get(member)
        .filter(JsonValue.JsonString.class::isInstance)
        .map(value -> ((JsonValue.JsonString) value).value());
  }

  /** Takes the same time wherever the texts differ. */
  static boolean areEqual(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
