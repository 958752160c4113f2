package lectus.attachment;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The digests that every Java platform has. */
public final class Digests {
  private Digests() {}

  public static MessageDigest md5() {
    return of("MD5");
  }

  public static MessageDigest sha1() {
    return of("SHA-1");
  }

  public static MessageDigest sha256() {
    return of("SHA-256");
  }

  private static MessageDigest of(String name) {
    try {
      return MessageDigest.getInstance(name);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has " + name, e);
    }
  }
}
