package lectus.account;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import lectus.attachment.Digests;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/** What is stored of a password, in one of CouchDB's schemes. */
sealed interface PasswordHash {

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
    Optional<String> scheme = user.textOf("password_scheme");
    if (scheme.isEmpty() || scheme.get().equals("simple")) {
      return SimpleHash.of(user).map(PasswordHash.class::cast);
    }
    return scheme.get().equals("pbkdf2")
        ? Pbkdf2Hash.of(user).map(PasswordHash.class::cast)
        : Optional.empty();
  }

  /** Takes the same time wherever the texts differ. */
  static boolean areEqual(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * CouchDB's first scheme, SHA-1 of the password and the salt. It is read, so that its users can
   * log in once more and get a better one.
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
      return user.textOf("password_sha")
          .flatMap(hash -> user.textOf("salt").flatMap(salt -> usable(hash, salt)));
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
      return PasswordHash.areEqual(HexFormat.of().formatHex(Digests.sha1().digest(salted)), hash);
    }
  }

  /**
   * PBKDF2 (RFC 8018), as long as the result of its hash function.
   *
   * @param key lower-case hex digits
   * @param iterations 1 to {@link AccountSettings#MAX_ITERATIONS}
   */
  record Pbkdf2Hash(Function function, String key, String salt, int iterations)
      implements PasswordHash {
    static final String HEAD = "-pbkdf2-";
    static final String NAMED_HEAD = "-pbkdf2:";

    private static final int SALT_BYTES = 16;
    private static final int HEX_DIGITS_PER_BYTE = 2;

    private static final Pattern TEXT =
        Pattern.compile(
            "-pbkdf2(?::(?<function>\\w+))?-(?<key>[^,]+),(?<salt>[^,]+),(?<n>[0-9]{1,9})");

    /** The hash functions, by CouchDB's names in lower case. */
    enum Function {
      SHA("SHA1", 20),
      SHA224("SHA224", 28),
      SHA256("SHA256", 32),
      SHA384("SHA384", 48),
      SHA512("SHA512", 64);

      private final String algorithm;
      private final int bytes;

      Function(String name, int bytes) {
        this.algorithm = "PBKDF2WithHmac" + name;
        this.bytes = bytes;
      }

      static Optional<Function> named(String name) {
        return Arrays.stream(values()).filter(it -> it.couchName().equals(name)).findFirst();
      }

      String couchName() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    /** Derives a key with CouchDB 3.5's function and a new salt. */
    static Pbkdf2Hash of(String password, int iterations) {
      byte[] salt = new byte[SALT_BYTES];
      new SecureRandom().nextBytes(salt);
      return of(password, HexFormat.of().formatHex(salt), iterations);
    }

    /** Derives a key with CouchDB 3.5's function. */
    static Pbkdf2Hash of(String password, String salt, int iterations) {
      return new Pbkdf2Hash(
          Function.SHA256, derive(Function.SHA256, password, salt, iterations), salt, iterations);
    }

    /** Returns a hash that takes as long as another to compare, and that no password has. */
    static Pbkdf2Hash ofNobody(int iterations) {
      return new Pbkdf2Hash(Function.SHA256, "", "nobody", iterations);
    }

    static Optional<Pbkdf2Hash> of(String text) {
      Matcher parts = TEXT.matcher(text);
      if (!parts.matches()) {
        return Optional.empty();
      }
      String function = Optional.ofNullable(parts.group("function")).orElse("sha");
      return usable(
          function, parts.group("key"), parts.group("salt"), Long.parseLong(parts.group("n")));
    }

    static Optional<Pbkdf2Hash> of(JsonObject user) {
      Optional<String> key = user.textOf("derived_key");
      Optional<String> salt = user.textOf("salt");
      return key.isEmpty() || salt.isEmpty()
          ? Optional.empty()
          : usable(
              user.textOf("pbkdf2_prf").orElse("sha"), key.get(), salt.get(), iterationsOf(user));
    }

    private static long iterationsOf(JsonObject user) {
      return user.get("iterations")
          .filter(JsonValue.JsonNumber.class::isInstance)
          .map(value -> ((JsonValue.JsonNumber) value).text())
          .filter(text -> text.matches("[0-9]{1,9}"))
          .map(Long::parseLong)
          .orElse(0L);
    }

    private static Optional<Pbkdf2Hash> usable(
        String functionName, String key, String salt, long iterations) {
      boolean isUsable =
          !salt.isEmpty()
              && salt.length() <= LONGEST_SALT
              && iterations > 0
              && iterations <= AccountSettings.MAX_ITERATIONS;
      return Function.named(functionName)
          .filter(function -> isUsable && key.length() == function.bytes * HEX_DIGITS_PER_BYTE)
          .map(function -> new Pbkdf2Hash(function, key, salt, (int) iterations));
    }

    /** Whether it is what {@link #of(String, int)} makes. */
    boolean isCurrent(int wantedIterations) {
      return function == Function.SHA256 && iterations == wantedIterations;
    }

    @Override
    public String text() {
      return NAMED_HEAD + function.couchName() + "-" + key + "," + salt + "," + iterations;
    }

    @Override
    public boolean matches(String password) {
      return PasswordHash.areEqual(derive(function, password, salt, iterations), key);
    }

    private static String derive(Function function, String password, String salt, int iterations) {
      byte[] salted = salt.getBytes(StandardCharsets.UTF_8);
      PBEKeySpec spec =
          new PBEKeySpec(password.toCharArray(), salted, iterations, function.bytes * Byte.SIZE);
      try {
        byte[] key =
            SecretKeyFactory.getInstance(function.algorithm).generateSecret(spec).getEncoded();
        return HexFormat.of().formatHex(key);
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("Every JDK has " + function.algorithm, e);
      } finally {
        spec.clearPassword();
      }
    }
  }
}
