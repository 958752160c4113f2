package lectus.http.auth;

import java.util.Optional;
import lectus.account.Accounts;
import lectus.account.Accounts.NamedAccount;
import lectus.error.NotInMemoryException;

/** The accounts, as far as memory has them or as the store has them. */
interface AccountView {
  /**
   * @throws NotInMemoryException the store has to be asked
   */
  Optional<NamedAccount> account(String name);

  /**
   * Returns the secret with which cookies are signed.
   *
   * @throws NotInMemoryException the store has to be asked
   */
  byte[] secret();

  /** For event loops: it never waits. */
  record InMemory(Accounts accounts) implements AccountView {
    @Override
    public Optional<NamedAccount> account(String name) {
      return accounts.recallAccount(name).orElseThrow(() -> NotInMemoryException.INSTANCE);
    }

    @Override
    public byte[] secret() {
      return accounts.cookieSecret().recall().orElseThrow(() -> NotInMemoryException.INSTANCE);
    }
  }

  /** Waits. */
  record InStore(Accounts accounts) implements AccountView {
    @Override
    public Optional<NamedAccount> account(String name) {
      return accounts.account(name);
    }

    @Override
    public byte[] secret() {
      return accounts.cookieSecret().read();
    }
  }
}
