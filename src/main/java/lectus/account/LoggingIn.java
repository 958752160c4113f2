package lectus.account;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import lectus.account.LogIn.Refused;
import lectus.error.LectusException;
import lectus.store.Awaiting;

/** Log-ins with a name and a password. Thread-safe. */
public final class LoggingIn {
  private final KnownAccounts known;
  private final Passwords passwords;
  private final Executor looks;

  /**
   * @param looks where accounts are looked up
   */
  LoggingIn(KnownAccounts known, Passwords passwords, Executor looks) {
    this.known = known;
    this.passwords = passwords;
    this.looks = looks;
  }

  /**
   * Returns the account whose password this is, if it was verified lately and the account has not
   * changed since, nor is locked for the address. Never waits.
   *
   * @param address the client's, as text
   */
  public Optional<NamedAccount> recall(String name, String password, String address) {
    return known
        .recall(name)
        .flatMap(account -> account)
        .filter(account -> passwords.isVerified(account, password, ClientNetwork.of(address)))
        .map(StoredAccount::account);
  }

  /**
   * Verifies a password: reads the store and hashes, so it waits.
   *
   * @param address the client's, as text
   * @throws LectusException Unavailable: too many log in at once
   */
  public LogIn logIn(String name, String password, String address) {
    return Awaiting.await(beginLogIn(name, password, address));
  }

  /**
   * Like {@link #logIn}, without waiting: for event loops.
   *
   * @return fails with Unavailable if too many log in at once
   */
  public CompletableFuture<LogIn> beginLogIn(String name, String password, String address) {
    if (NewPassword.isTooLong(password)) {
      return CompletableFuture.completedFuture(new Refused());
    }
    String network = ClientNetwork.of(address);
    Optional<Optional<StoredAccount>> account = known.recall(name);
    if (account.isPresent()) {
      return passwords.compare(account.get(), name, password, network);
    }
    return compare(() -> known.get(name), name, password, network);
  }

  /**
   * The account of a stranger is looked up when it is the stranger's turn to have a password
   * hashed.
   */
  private CompletableFuture<LogIn> compare(
      Supplier<Optional<StoredAccount>> look, String name, String password, String network) {
    return passwords.isGuest(name, network) || passwords.wasRight(name, password)
        ? lookAndCompare(look, name, password, network)
        : passwords.compare(name, password, network);
  }

  private CompletableFuture<LogIn> lookAndCompare(
      Supplier<Optional<StoredAccount>> look, String name, String password, String network) {
    try {
      return CompletableFuture.supplyAsync(look, looks)
          .thenCompose(found -> passwords.compare(found, name, password, network));
    } catch (RejectedExecutionException closed) {
      return CompletableFuture.failedFuture(Hashing.stopping());
    }
  }

  /**
   * Like {@link #beginLogIn}, with the account as it is now: the session that begins with it is
   * signed with its salt, and would end at once with a former one.
   */
  public CompletableFuture<LogIn> beginSession(String name, String password, String address) {
    if (NewPassword.isTooLong(password)) {
      return CompletableFuture.completedFuture(new Refused());
    }
    String network = ClientNetwork.of(address);
    Optional<LogIn> locked =
        known.recall(name).flatMap(account -> passwords.locked(account, name, network));
    return locked.isPresent()
        ? CompletableFuture.completedFuture(locked.get())
        : compare(() -> known.look(name), name, password, network);
  }
}
