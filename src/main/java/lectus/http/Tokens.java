package lectus.http;

import com.github.benmanes.caffeine.cache.Cache;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.text.ParseException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import lectus.attachment.Digests;
import lectus.database.UserContext;
import lectus.database.UserContext.Session;
import lectus.error.LectusException;
import lectus.http.HttpSettings.MalformedKeysException;
import lectus.http.HttpSettings.TokenSettings;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whose a token is. A signature takes a good part of a millisecond to check, so good tokens
 * are remembered, until they expire or the keys change. Thread-safe.
 *
 * <p>Other than CouchDB, a token that is signed badly, is too old or lacks a claim is answered 401,
 * and only one that cannot be read is answered 400.
 */
public final class Tokens implements Measured {
  private static final int MAX_REMEMBERED = 10_000;

  private final Supplier<TokenSettings> settings;
  private final InstantSource clock;
  private final Optional<TokenKeysFile> file;
  private final CacheMetrics figures = new CacheMetrics("tokens");
  private final Cache<ByteBuffer, Remembered> good =
      figures.cache().maximumSize(MAX_REMEMBERED).build();

  /**
   * @param settings what tokens must claim may change at any time, their keys' file may not
   */
  public Tokens(Supplier<TokenSettings> settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
    this.file = settings.get().keys().map(TokenKeysFile::new);
  }

  /**
   * @param keys the number of the keys that it was verified with
   * @param settings with which it was
   */
  private record Remembered(VerifiedToken token, int keys, TokenSettings settings) {}

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, good::estimatedSize);
  }

  public boolean areTaken() {
    return file.isPresent();
  }

  /**
   * Returns whose a token is and until when, if it was verified lately. Never waits.
   *
   * @return empty if it has to be verified
   */
  public Optional<Session> recall(String token) {
    TokenKeysFile keys = file.orElseThrow();
    return keys.isFresh() ? recall(digest(token), keys.last().number()) : Optional.empty();
  }

  private Optional<Session> recall(ByteBuffer digest, int keys) {
    return Optional.ofNullable(good.getIfPresent(digest))
        .filter(it -> it.keys() == keys && it.settings().equals(settings.get()))
        .filter(it -> it.token().isGoodAt(clock.instant()))
        .map(it -> it.token().admission());
  }

  /**
   * Returns whose a token is and until when. Waits for the disk, and works for a while.
   *
   * @throws LectusException {@code unauthorized} (401), or {@code bad_request} (400): it cannot be
   *     read
   */
  public Session verify(String token) {
    TokenKeysFile.Look keys = file.orElseThrow().current();
    ByteBuffer digest = digest(token);
    Optional<Session> known = recall(digest, keys.number());
    if (known.isPresent()) {
      return known.get();
    }
    JWSObject parsed = parse(token);
    TokenSignature.check(parsed, keys.keys());
    TokenSettings now = settings.get();
    VerifiedToken verified = new TokenClaims(claims(parsed)).verified(now, clock.instant());
    good.put(digest, new Remembered(verified, keys.number(), now));
    return verified.admission();
  }

  /** The library fails in many ways over what is no token. */
  private static JWSObject parse(String token) {
    try {
      return JWSObject.parse(token);
    } catch (ParseException | RuntimeException e) {
      throw malformed();
    }
  }

  private static Map<String, Object> claims(JWSObject token) {
    return Optional.ofNullable(token.getPayload().toJSONObject()).orElseThrow(Tokens::malformed);
  }

  private static LectusException malformed() {
    return LectusException.badRequest("Malformed authentication token");
  }

  /** Tokens are long, and ought to be nowhere in memory longer than they are needed. */
  private static ByteBuffer digest(String token) {
    return ByteBuffer.wrap(Digests.sha256().digest(token.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * The file of keys, read again when it changes. A file that cannot be read or understood any more
   * takes nothing away: the keys stay as they were, and the log says so. Thread-safe.
   */
  static final class TokenKeysFile {
    private static final Logger LOG = LoggerFactory.getLogger(TokenKeysFile.class);

    /** How old a look at the file may be. */
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Path file;
    private volatile Look last = new Look(TokenKeys.NONE, new Stamp(FileTime.fromMillis(0), -1), 0);

    /** Whether the last look failed, which is said once. */
    private boolean isMissing;

    private volatile long lookedAtNanos = System.nanoTime() - FRESH_NANOS;

    TokenKeysFile(Path file) {
      this.file = file;
    }

    /**
     * What was seen of the file.
     *
     * @param number grows with each change
     */
    record Look(TokenKeys keys, Stamp stamp, int number) {}

    /** What changes with a file. */
    record Stamp(FileTime changed, long bytes) {}

    /** Whether the file was looked at lately. Never waits. */
    boolean isFresh() {
      return System.nanoTime() - lookedAtNanos < FRESH_NANOS;
    }

    /** Returns what was seen last. Never waits. */
    Look last() {
      return last;
    }

    /** Returns the keys as they are in the file now, or were a moment ago; waits for the disk. */
    synchronized Look current() {
      if (!isFresh()) {
        look();
        lookedAtNanos = System.nanoTime();
      }
      return last;
    }

    private void look() {
      try {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        Stamp stamp = new Stamp(attributes.lastModifiedTime(), attributes.size());
        if (!stamp.equals(last.stamp())) {
          last = new Look(keysOr(last.keys()), stamp, last.number() + 1);
        }
        isMissing = false;
      } catch (IOException e) {
        if (!isMissing) {
          LOG.warn("The keys of tokens in {} cannot be read. Those from before are kept.", file, e);
        }
        isMissing = true;
      }
    }

    private TokenKeys keysOr(TokenKeys before) throws IOException {
      try {
        return TokenKeys.read(file);
      } catch (MalformedKeysException e) {
        LOG.warn("The keys of tokens in {} are not taken. Those from before are kept.", file, e);
        return before;
      }
    }
  }

  /** What a signed token claims. */
  private record TokenClaims(Map<String, Object> claims) {
    /**
     * @throws LectusException {@code unauthorized}: it is not good now, or lacks what it must have;
     *     {@code bad_request}: a claim is of another kind than it must be
     */
    VerifiedToken verified(TokenSettings settings, Instant now) {
      settings.required().forEach(this::require);
      Optional<Instant> until = time("exp");
      if (until.isPresent() && !now.isBefore(until.get())) {
        throw LectusException.unauthorized("exp not in future");
      }
      time("nbf").filter(now::isBefore).ifPresent(TokenClaims::refuseEarly);
      return new VerifiedToken(UserContext.named(user(), roles(settings.rolesClaim())), until);
    }

    private static void refuseEarly(Instant notBefore) {
      throw LectusException.unauthorized("nbf not in past");
    }

    private void require(String name, Optional<String> value) {
      Object claim = claims.get(name);
      if (claim == null) {
        throw LectusException.unauthorized("Missing " + name + " claim");
      }
      if (value.isPresent() && !value.get().equals(claim)) {
        throw LectusException.unauthorized("Invalid " + name + " claim");
      }
    }

    private String user() {
      Object subject = claims.get("sub");
      if (subject instanceof String name && !name.isEmpty()) {
        return name;
      }
      throw LectusException.unauthorized("Token missing sub claim.");
    }

    /** Seconds since 1970, with a fraction or without (RFC 7519, section 2). */
    private Optional<Instant> time(String name) {
      Object claim = claims.get(name);
      if (claim == null) {
        return Optional.empty();
      }
      if (!(claim instanceof Number seconds)) {
        throw malformed();
      }
      double millis = seconds.doubleValue() * 1_000;
      return Optional.of(Instant.ofEpochMilli((long) millis));
    }

    private Set<String> roles(String path) {
      Object claim = claims.containsKey(path) ? claims.get(path) : nested(path);
      if (claim == null) {
        return Set.of();
      }
      if (claim instanceof String text) {
        return text.isBlank() ? Set.of() : Set.copyOf(words(text));
      }
      if (!(claim instanceof List<?> list)) {
        throw malformed();
      }
      Set<String> roles = new HashSet<>();
      for (Object element : list) {
        if (!(element instanceof String role)) {
          throw malformed();
        }
        roles.add(role);
      }
      return roles;
    }

    private static Set<String> words(String text) {
      return new HashSet<>(Arrays.asList(text.trim().split("\\s*,\\s*")));
    }

    /** Returns what the names between the dots lead to; {@code \.} is a dot of a name. */
    private Object nested(String path) {
      Object found = claims;
      for (String name : path.split("(?<!\\\\)\\.")) {
        found = found instanceof Map<?, ?> map ? map.get(name.replace("\\.", ".")) : null;
      }
      return found;
    }

    private static LectusException malformed() {
      return LectusException.badRequest("Malformed token");
    }
  }

  /**
   * Whose signature a token has. The family of the key follows from the token's algorithm, so a
   * public key is never taken for a secret.
   */
  private static final class TokenSignature {
    /** The JDK verifies it; the library would need another one for that. */
    private static final String ED_FAMILY = "ed";

    private static final String SECRET_FAMILY = "hmac";

    private static final Map<JWSAlgorithm, String> FAMILIES =
        Map.ofEntries(
            Map.entry(JWSAlgorithm.HS256, SECRET_FAMILY),
            Map.entry(JWSAlgorithm.HS384, SECRET_FAMILY),
            Map.entry(JWSAlgorithm.HS512, SECRET_FAMILY),
            Map.entry(JWSAlgorithm.RS256, "rsa"),
            Map.entry(JWSAlgorithm.RS384, "rsa"),
            Map.entry(JWSAlgorithm.RS512, "rsa"),
            Map.entry(JWSAlgorithm.ES256, "ec"),
            Map.entry(JWSAlgorithm.ES384, "ec"),
            Map.entry(JWSAlgorithm.ES512, "ec"),
            Map.entry(JWSAlgorithm.EdDSA, ED_FAMILY));

    private TokenSignature() {}

    /**
     * @throws LectusException {@code bad_request}: another algorithm; {@code unauthorized}: no such
     *     key, or it did not sign the token
     */
    static void check(JWSObject token, TokenKeys keys) {
      JWSHeader header = token.getHeader();
      String family = FAMILIES.get(header.getAlgorithm());
      if (family == null) {
        throw LectusException.badRequest("Invalid alg header parameter");
      }
      String id = header.getKeyID() == null ? TokenKeys.DEFAULT_ID : header.getKeyID();
      Key key =
          keys.find(family, id).orElseThrow(() -> LectusException.unauthorized("Unknown kid"));
      requireCurve(header.getAlgorithm(), key, keys);
      if (!isSigned(token, family, key)) {
        String what = family.equals(SECRET_FAMILY) ? "HMAC" : "signature";
        throw LectusException.unauthorized("Bad " + what + " in authentication token");
      }
    }

    /** Each algorithm of elliptic curves has one curve (RFC 7518, section 3.4). */
    private static void requireCurve(JWSAlgorithm algorithm, Key key, TokenKeys keys) {
      if (key instanceof ECPublicKey ec
          && !Curve.forJWSAlgorithm(algorithm).contains(Curve.forECParameterSpec(ec.getParams()))) {
        String reason =
            "A key of the curve %s signs no %s"
                .formatted(Curve.forECParameterSpec(ec.getParams()), algorithm);
        keys.complainOnce(reason);
        throw LectusException.unauthorized(reason);
      }
    }

    private static boolean isSigned(JWSObject token, String family, Key key) {
      if (token.getHeader().getCriticalParams() != null) {
        return false; // RFC 7515, section 4.1.11: whoever does not know them refuses the token
      }
      try {
        return switch (family) {
          case SECRET_FAMILY -> isSignedWithSecret(token, (SecretKey) key);
          case ED_FAMILY -> isSignedWithEd(token, (PublicKey) key);
          case "rsa" -> token.verify(new RSASSAVerifier((RSAPublicKey) key));
          default -> token.verify(new ECDSAVerifier((ECPublicKey) key));
        };
      } catch (JOSEException | GeneralSecurityException unfit) {
        return false;
      }
    }

    /**
     * As CouchDB, it takes a secret for each hash. The library wants secrets as long as the hash
     * (RFC 7518, section 3.2).
     */
    private static boolean isSignedWithSecret(JWSObject token, SecretKey key)
        throws GeneralSecurityException {
      Mac mac =
          Mac.getInstance(token.getHeader().getAlgorithm().getName().replace("HS", "HmacSHA"));
      mac.init(key);
      return MessageDigest.isEqual(
          mac.doFinal(token.getSigningInput()), token.getSignature().decode());
    }

    private static boolean isSignedWithEd(JWSObject token, PublicKey key)
        throws GeneralSecurityException {
      Signature signature = Signature.getInstance("Ed25519");
      signature.initVerify(key);
      signature.update(token.getSigningInput());
      return signature.verify(token.getSignature().decode());
    }
  }

  /**
   * A token whose signature and claims are good.
   *
   * @param until when it expires; empty: never
   */
  private record VerifiedToken(UserContext user, Optional<Instant> until) {
    Session admission() {
      return new Session(user, until, Optional.empty());
    }

    boolean isGoodAt(Instant now) {
      return until.map(now::isBefore).orElse(true);
    }
  }
}
