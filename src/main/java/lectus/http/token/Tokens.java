package lectus.http.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jose.JWSObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.ParseException;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import lectus.access.Admission;
import lectus.error.LectusException;
import lectus.measure.CacheFigures;
import lectus.measure.Measured;
import lectus.measure.Meters;

/**
 * Says whose a token is. A signature takes a good part of a millisecond to check, so good tokens
 * are remembered, until they expire or the keys change. Thread-safe.
 *
 * <p>Other than CouchDB, a token that is signed badly, is too old or lacks a claim is answered 401,
 * and only one that cannot be read is answered 400.
 */
public final class Tokens implements Measured {
  private static final int MOST_REMEMBERED = 10_000;

  private final TokenSettings settings;
  private final InstantSource clock;
  private final Optional<TokenKeysFile> file;
  private final CacheFigures figures = new CacheFigures("tokens");
  private final Cache<ByteBuffer, Remembered> good =
      figures.countedBy(Caffeine.newBuilder()).maximumSize(MOST_REMEMBERED).build();

  public Tokens(TokenSettings settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
    this.file = settings.keys().map(TokenKeysFile::new);
  }

  /**
   * @param keys the number of the keys that it was verified with
   */
  private record Remembered(VerifiedToken token, int keys) {}

  @Override
  public void describe(Meters meters) {
    figures.describe(meters, good::estimatedSize);
  }

  /** Whether tokens are taken at all. */
  public boolean areTaken() {
    return file.isPresent();
  }

  /**
   * Returns whose a token is and until when, if it was verified lately. Never waits.
   *
   * @return empty if it has to be verified
   */
  public Optional<Admission> recall(String token) {
    TokenKeysFile keys = file.orElseThrow();
    return keys.isFresh() ? recall(digest(token), keys.last().number()) : Optional.empty();
  }

  private Optional<Admission> recall(ByteBuffer digest, int keys) {
    return Optional.ofNullable(good.getIfPresent(digest))
        .filter(it -> it.keys() == keys && it.token().isGoodAt(clock.instant()))
        .map(it -> it.token().admission());
  }

  /**
   * Returns whose a token is and until when. Waits for the disk, and works for a while.
   *
   * @throws LectusException {@code unauthorized} (401), or {@code bad_request} (400): it cannot be
   *     read
   */
  public Admission verify(String token) {
    TokenKeysFile.Look keys = file.orElseThrow().current();
    ByteBuffer digest = digest(token);
    Optional<Admission> known = recall(digest, keys.number());
    if (known.isPresent()) {
      return known.get();
    }
    JWSObject parsed = parse(token);
    TokenSignature.check(parsed, keys.keys());
    VerifiedToken verified = new TokenClaims(claims(parsed)).verified(settings, clock.instant());
    good.put(digest, new Remembered(verified, keys.number()));
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
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return ByteBuffer.wrap(sha256.digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
