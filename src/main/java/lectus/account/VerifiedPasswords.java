package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.measure.CacheFigures;
import lectus.measure.Meters;

/**
 * Names and passwords that were verified during the last minute, so that a client that sends them
 * with each request is not hashed each time. Only a keyed digest of them is kept, whose key this
 * process alone has, and which hash they matched: another hash is another password. Thread-safe.
 */
final class VerifiedPasswords {
  static final Duration KEPT = Duration.ofMinutes(1);

  private static final int MOST = 10_000;
  private static final int KEY_BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";

  private final Mac mac = mac();
  private final CacheFigures figures = new CacheFigures("verified_passwords");
  private final Cache<ByteBuffer, String> hashes;

  VerifiedPasswords(LongSupplier nanoTime) {
    this.hashes =
        figures
            .countedBy(Caffeine.newBuilder())
            .maximumSize(MOST)
            .expireAfterWrite(KEPT)
            .ticker(nanoTime::getAsLong)
            .executor(Runnable::run)
            .build();
  }

  void describe(Meters meters) {
    figures.describe(meters, hashes::estimatedSize);
  }

  void add(String name, String password, PasswordHash hash) {
    hashes.put(digest(name, password), hash.text());
  }

  /** Whether the password was verified against this hash. */
  boolean contains(String name, String password, PasswordHash hash) {
    return hash.text().equals(hashes.getIfPresent(digest(name, password)));
  }

  /** Whether the password was verified lately, against whatever hash. */
  boolean contains(String name, String password) {
    return hashes.getIfPresent(digest(name, password)) != null;
  }

  private ByteBuffer digest(String name, String password) {
    try {
      Mac own = (Mac) mac.clone();
      byte[] named = name.getBytes(StandardCharsets.UTF_8);
      own.update(ByteBuffer.allocate(Integer.BYTES).putInt(named.length).flip());
      own.update(named);
      return ByteBuffer.wrap(own.doFinal(password.getBytes(StandardCharsets.UTF_8)));
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("The JDK's Macs can be cloned", e);
    }
  }

  private static Mac mac() {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every JDK has " + ALGORITHM, e);
    }
  }
}
