package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import lectus.account.LogIn.Conflicted;
import lectus.account.LogIn.Granted;
import lectus.account.LogIn.LockedOut;
import lectus.account.LogIn.Refused;
import lectus.account.WrongPasswords.Attempt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares passwords with accounts: from memory if one was right lately, else by hashing. A wrong
 * password takes as long as a wrong name. Thread-safe.
 */
final class Passwords implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Passwords.class);

  private static final int MOST_GUESTS = 10_000;

  private final KnownAccounts accounts;
  private final PasswordUpgrade upgrade;
  private final PasswordHash nobodys;
  private final VerifiedPasswords verified;
  private final WrongPasswords wrong;
  private final Hashing hashing = new Hashing();

  /** Who has logged in, and from where. */
  private final Cache<Attempt, Boolean> guests =
      Caffeine.newBuilder().maximumSize(MOST_GUESTS).executor(Runnable::run).build();

  Passwords(KnownAccounts accounts, PasswordUpgrade upgrade, LongSupplier nanoTime) {
    this.accounts = accounts;
    this.upgrade = upgrade;
    this.verified = new VerifiedPasswords(nanoTime);
    this.wrong = new WrongPasswords(nanoTime);
    this.nobodys = Pbkdf2Hash.ofNobody(upgrade.iterations());
  }

  /** Whether the password was found right lately, and is the account's still. Never waits. */
  boolean isVerified(StoredAccount account, String password) {
    String name = account.user().name().orElseThrow();
    return account.password().filter(hash -> verified.contains(name, password, hash)).isPresent();
  }

  /**
   * Compares a password.
   *
   * @param account as it was looked up lately
   * @return fails with Unavailable (503) if too many wait
   */
  CompletableFuture<LogIn> compare(
      Optional<StoredAccount> account, String name, String password, String address) {
    Optional<Duration> locked = lockedFor(account, name, address);
    if (locked.isPresent()) {
      return CompletableFuture.completedFuture(new LockedOut(locked.get()));
    }
    if (account.isPresent() && isVerified(account.get(), password)) {
      return CompletableFuture.completedFuture(new Granted(account.get().account()));
    }
    boolean isGuest = guests.getIfPresent(attempt(account, name, address)) != null;
    return hashing.begin(isGuest, () -> compareNow(name, password, address));
  }

  /** Returns for how long nobody may try from there; empty if one may. */
  Optional<Duration> lockedFor(Optional<StoredAccount> account, String name, String address) {
    return wrong.lockedFor(attempt(account, name, address));
  }

  private static Attempt attempt(Optional<StoredAccount> account, String name, String address) {
    return new Attempt(name, address, account.map(StoredAccount::salt).orElse(""));
  }

  private LogIn compareNow(String name, String password, String address) {
    // The password may have been changed a moment ago, by the client that now uses the new one.
    Optional<StoredAccount> account = accounts.look(name);
    Attempt attempt = attempt(account, name, address);
    Optional<PasswordHash> hash = account.flatMap(it -> it.password().or(it::disputed));
    if (!isRight(hash, password)) {
      wrong.add(attempt);
      return new Refused();
    }
    if (account.orElseThrow().password().isEmpty()) {
      return new Conflicted();
    }
    verified.add(name, password, hash.orElseThrow());
    wrong.forget(attempt);
    guests.put(attempt, true);
    upgradeSoon(account.orElseThrow(), hash.orElseThrow(), password);
    return new Granted(account.orElseThrow().account());
  }

  /** Always hashes once in the current scheme at least, so that the time tells nothing. */
  private boolean isRight(Optional<PasswordHash> hash, String password) {
    boolean isRight = hash.map(it -> it.matches(password)).orElse(false);
    boolean isHashed = hash.isPresent() && hash.get() instanceof Pbkdf2Hash;
    return isHashed ? isRight : !nobodys.matches(password) && isRight;
  }

  private void upgradeSoon(StoredAccount account, PasswordHash hash, String password) {
    if (upgrade.isNeededBy(hash)) {
      hashing
          .begin(
              true,
              () -> {
                upgrade.run(account, hash, password);
                return null;
              })
          .exceptionally(
              failure -> {
                LOG.debug("The hash of a password was not upgraded", failure);
                return null;
              });
    }
  }

  Hashing hashing() {
    return hashing;
  }

  @Override
  public void close() {
    hashing.close();
  }
}
