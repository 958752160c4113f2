package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import lectus.account.LogIn.Conflicted;
import lectus.account.LogIn.Granted;
import lectus.account.LogIn.LockedOut;
import lectus.account.LogIn.Refused;
import lectus.account.LogIn.Slowed;
import lectus.account.WrongPasswords.Attempt;
import lectus.measure.CacheFigures;
import lectus.measure.Measured;
import lectus.measure.Meters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares passwords with accounts: from memory if one was right lately, else by hashing. A wrong
 * password takes as long as a wrong name. Thread-safe.
 */
final class Passwords implements Measured, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Passwords.class);

  private static final int MOST_GUESTS = 10_000;

  private final KnownAccounts accounts;
  private final PasswordUpgrade upgrade;
  private final int iterations;
  private final VerifiedPasswords verified;
  private final WrongPasswords wrong;
  private final Guessers guessers;
  private final Hashing hashing = new Hashing();

  private final CacheFigures figures = new CacheFigures("guests");
  private final Cache<Guest, Boolean> guests =
      figures
          .countedBy(Caffeine.newBuilder())
          .maximumSize(MOST_GUESTS)
          .executor(Runnable::run)
          .build();

  private final LongAdder granted = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder lockedOut = new LongAdder();

  /** Somebody who has logged in, and from where. */
  private record Guest(String name, String address) {}

  Passwords(KnownAccounts accounts, PasswordUpgrade upgrade, LongSupplier nanoTime) {
    this.accounts = accounts;
    this.upgrade = upgrade;
    this.verified = new VerifiedPasswords(nanoTime);
    this.wrong = new WrongPasswords(nanoTime);
    this.guessers = new Guessers(nanoTime);
    this.iterations = upgrade.iterations();
  }

  /**
   * Whether the password was found right lately, and is the account's still. While the name is
   * locked for the address nothing is, or one could go on to guess. Never waits.
   */
  boolean isVerified(StoredAccount account, String password, String address) {
    return isVerified(account, password)
        && wrong.lockedFor(attempt(Optional.of(account), account.name(), address)).isEmpty();
  }

  private boolean isVerified(StoredAccount account, String password) {
    String name = account.name();
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
    Optional<LogIn> known = withoutHash(account, name, password, address);
    return known.isPresent()
        ? CompletableFuture.completedFuture(known.get())
        : compare(name, password, address);
  }

  /**
   * Compares a password with the account as it is when its turn comes.
   *
   * @return fails with Unavailable (503) if too many wait
   */
  CompletableFuture<LogIn> compare(String name, String password, String address) {
    if (isGuest(name, address)) {
      return hashing.begin(true, address, () -> compareNow(name, password, address));
    }
    Optional<Duration> pause = guessers.begin(address);
    return pause.isPresent()
        ? CompletableFuture.completedFuture(new Slowed(pause.get()))
        : hashing.begin(false, address, () -> compareStranger(name, password, address));
  }

  private LogIn compareStranger(String name, String password, String address) {
    LogIn outcome = compareNow(name, password, address);
    if (!(outcome instanceof Refused)) {
      guessers.forgive(address);
    }
    return outcome;
  }

  /** Whether somebody has logged in with this name from this address. Never waits. */
  boolean isGuest(String name, String address) {
    return guests.getIfPresent(new Guest(name, address)) != null;
  }

  /** Whether the password was right lately, whatever has become of the account. Never waits. */
  boolean wasRight(String name, String password) {
    return verified.contains(name, password);
  }

  private Optional<LogIn> withoutHash(
      Optional<StoredAccount> account, String name, String password, String address) {
    Optional<LogIn> locked = locked(account, name, address);
    return locked.isPresent()
        ? locked
        : account.filter(it -> isVerified(it, password)).map(it -> new Granted(it.account()));
  }

  /** Returns the refusal of a name that is locked for the address. Never waits. */
  Optional<LogIn> locked(Optional<StoredAccount> account, String name, String address) {
    Optional<Duration> left = wrong.lockedFor(attempt(account, name, address));
    left.ifPresent(it -> lockedOut.increment());
    return left.map(LockedOut::new);
  }

  private static Attempt attempt(Optional<StoredAccount> account, String name, String address) {
    return new Attempt(name, address, account.map(StoredAccount::salt).orElse(""));
  }

  private LogIn compareNow(String name, String password, String address) {
    // The password may have been changed a moment ago, by the client that now uses the new one.
    Optional<StoredAccount> account = accounts.look(name);
    // Others with the same name or password may have had their turn meanwhile.
    Optional<LogIn> known = withoutHash(account, name, password, address);
    return known.isPresent() ? known.get() : hashed(account, name, password, address);
  }

  private LogIn hashed(
      Optional<StoredAccount> account, String name, String password, String address) {
    Attempt attempt = attempt(account, name, address);
    Optional<PasswordHash> hash = account.flatMap(it -> it.password().or(it::disputed));
    if (!isRight(hash, password)) {
      if (wrong.add(attempt) && !isGuest(name, address)) {
        guessers.add(address);
      }
      refused.increment();
      return new Refused();
    }
    if (account.orElseThrow().password().isEmpty()) {
      return new Conflicted();
    }
    verified.add(name, password, hash.orElseThrow());
    wrong.forget(attempt);
    granted.increment();
    guests.put(new Guest(name, address), true);
    upgradeSoon(account.orElseThrow(), hash.orElseThrow(), password);
    return new Granted(account.orElseThrow().account());
  }

  /**
   * A password that is not right takes as long as the current scheme, so that the time does not
   * tell whether there is such a name, nor from where it was imported.
   */
  private boolean isRight(Optional<PasswordHash> hash, String password) {
    boolean isRight = hash.map(it -> it.matches(password)).orElse(false);
    int left = iterations - hash.map(PasswordHash::iterations).orElse(0);
    if (!isRight && left > 0) {
      Pbkdf2Hash.ofNobody(left).matches(password);
    }
    return isRight;
  }

  private void upgradeSoon(StoredAccount account, PasswordHash hash, String password) {
    if (upgrade.isNeededBy(hash)) {
      hashing
          .beginLast(
              account.name(),
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

  @Override
  public void describe(Meters meters) {
    describe(meters, "granted", granted);
    describe(meters, "refused", refused);
    describe(meters, "locked_out", lockedOut);
    accounts.describe(meters);
    verified.describe(meters);
    wrong.describe(meters);
    guessers.describe(meters);
    figures.describe(meters, guests::estimatedSize);
  }

  private static void describe(Meters meters, String result, LongAdder count) {
    meters
        .with("result", result)
        .count(
            "lectus_logins",
            "Passwords that were looked at; those verified lately are not counted again.",
            count::sum);
  }

  Hashing hashing() {
    return hashing;
  }

  @Override
  public void close() {
    hashing.close();
  }
}
