package lectus.account;

import java.util.Optional;
import lectus.access.UserContext;

/**
 * The accounts of a store. What it says is at most half a second old, whichever server changed it.
 * Thread-safe.
 */
public final class Accounts {
  /**
   * Whether an admin exists; else everybody is one where the server may be trusted. Never waits.
   */
  public boolean hasAdmin() {
    return false;
  }

  /**
   * Returns who is not logged in: everybody is an admin while there is none, on a server that
   * trusts whoever reaches it. Never waits.
   */
  public UserContext nobody() {
    return hasAdmin() ? UserContext.ANONYMOUS : UserContext.ADMIN_PARTY;
  }

  /**
   * Returns the user whose password this is, if it was verified lately and the account has not
   * changed since. Never waits.
   */
  public Optional<UserContext> recall(String name, String password) {
    return Optional.empty();
  }

  /**
   * Verifies a password: reads the store and hashes, so it waits.
   *
   * @param address the client's, as text
   */
  public LogIn logIn(String name, String password, String address) {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns the account of a name if it was looked at lately. The outer Optional is empty if that
   * is not so, the inner one if there is no such account. Never waits.
   */
  public Optional<Optional<Account>> recallAccount(String name) {
    throw new UnsupportedOperationException();
  }

  /** Returns the account of a name; waits for the store. */
  public Optional<Account> account(String name) {
    throw new UnsupportedOperationException();
  }

  /** Returns the secret with which cookies are signed, if it is known already. Never waits. */
  public Optional<byte[]> recallCookieSecret() {
    throw new UnsupportedOperationException();
  }

  /** Returns the secret with which cookies are signed; waits for the store. */
  public byte[] cookieSecret() {
    throw new UnsupportedOperationException();
  }
}
