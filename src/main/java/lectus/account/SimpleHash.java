package lectus.account;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import lectus.json.JsonValue.JsonObject;

/**
 * CouchDB's first scheme, SHA-1 of the password and the salt. It is read, so that its users can log
 * in once more and get a better one.
 *
 * @param hash lower-case hex digits
 */
record SimpleHash(String hash, String salt) implements PasswordHash {
  static final String HEAD = "-hashed-";

  private static final int HEX_DIGITS = 40;

  static Optional<SimpleHash> of(String text) {
    if (!text.startsWith(HEAD)) {
      return Optional.empty();
    }
    String[] parts = text.substring(HEAD.length()).split(",", -1);
    return parts.length == 2 ? usable(parts[0], parts[1]) : Optional.empty();
  }

  private static Optional<SimpleHash> usable(String hash, String salt) {
    return hash.length() == HEX_DIGITS && salt.length() <= LONGEST_SALT
        ? Optional.of(new SimpleHash(hash, salt))
        : Optional.empty();
  }

  static Optional<SimpleHash> of(JsonObject user) {
    return PasswordHash.text(user, "password_sha")
        .flatMap(hash -> PasswordHash.text(user, "salt").flatMap(salt -> usable(hash, salt)));
  }

  @Override
  public String text() {
    return HEAD + hash + "," + salt;
  }

  @Override
  public int iterations() {
    return 1;
  }

  @Override
  public boolean matches(String password) {
    byte[] salted = (password + salt).getBytes(StandardCharsets.UTF_8);
    return PasswordHash.areEqual(HexFormat.of().formatHex(sha1().digest(salted)), hash);
  }

  private static MessageDigest sha1() {
    try {
      return MessageDigest.getInstance("SHA-1");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has SHA-1", e);
    }
  }
}
