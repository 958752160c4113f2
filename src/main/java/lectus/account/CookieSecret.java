package lectus.account;

import java.util.Optional;

/** The secret with which cookies are signed, the same for all servers of the store. Thread-safe. */
public final class CookieSecret {
  private final Secrets secrets;
  private volatile byte[] known;

  CookieSecret(Secrets secrets) {
    this.secrets = secrets;
  }

  /** Returns the secret if it is known already. Never waits. */
  public Optional<byte[]> recall() {
    return Optional.ofNullable(known).map(byte[]::clone);
  }

  /** Returns the secret; waits for the store. */
  public byte[] read() {
    if (known == null) {
      known = secrets.cookie();
    }
    return known.clone();
  }
}
