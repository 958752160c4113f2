package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.account.Accounts.NamedAccount;
import lectus.account.KnownAccounts.StoredAccount;
import lectus.account.LoggingIn.LogIn.Refused;
import lectus.error.LectusException;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
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
    if (!passwords.isGuest(name, network) && !passwords.verified.contains(name, password)) {
      return passwords.compare(name, password, network);
    }
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

  /** The network in which one client can choose its address. */
  public static final class ClientNetwork {
    /** RFC 4291, section 2.5.4: whoever has an address of IPv6 has all with the same 64 bits. */
    private static final int NETWORK_BYTES = 8;

    private ClientNetwork() {}

    /**
     * Returns the network of an IPv6 address, and any other text as it is.
     *
     * @param address in digits
     */
    public static String of(String address) {
      if (address.indexOf(':') < 0) {
        return address;
      }
      try {
        // What has a colon is no name, so nobody looks it up.
        return InetAddress.getByName(address) instanceof Inet6Address six
            ? networkOf(six)
            : address;
      } catch (UnknownHostException noAddress) {
        return address;
      }
    }

    private static String networkOf(Inet6Address address) {
      return HexFormat.of().formatHex(Arrays.copyOf(address.getAddress(), NETWORK_BYTES)) + "::/64";
    }
  }

  /** What came of an attempt to log in. */
  public sealed interface LogIn {
    /**
     * @param account whose password it is
     */
    record Granted(NamedAccount account) implements LogIn {}

    /** The name or the password is wrong; nobody learns which. */
    record Refused() implements LogIn {}

    /** The password is right, but the user's document is in conflict, and lets nobody in. */
    record Conflicted() implements LogIn {}

    /** There were too many wrong passwords for this name from this address. */
    record LockedOut(Duration retryAfter) implements LogIn {}

    /** There were wrong passwords for too many names from this address. */
    record Slowed(Duration retryAfter) implements LogIn {}
  }

  /**
   * Slows down whoever tries out one name after the other. An address from which many names were
   * given with wrong passwords has one try at a time, and after each wrong one a pause, which grows
   * with each further name. Names that have logged in from there before are not concerned, nor are
   * passwords that are known to be right. Thread-safe.
   */
  static final class LoginThrottle {
    /**
     * So many names are free: an office has many people, and some have forgotten their password.
     */
    static final int FREE_NAMES = 20;

    /** How long a name counts, from the first one on. */
    static final Duration COUNTED = Duration.ofMinutes(5);

    static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private static final int MAX_DOUBLINGS = 6;
    private static final int MAX_ADDRESSES = 10_000;

    private final LongSupplier nanoTime;
    private final CacheMetrics figures = new CacheMetrics("guessers");
    private final Cache<String, Count> counts = figures.cache().maximumSize(MAX_ADDRESSES).build();

    /**
     * @param names how many were given with a wrong password
     * @param until when the next try may begin
     */
    private record Count(int names, long since, long until) {}

    LoginThrottle(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    void describe(Meters meters) {
      figures.describe(meters, counts::estimatedSize);
    }

    /** Begins a try, unless it is too early; returns how much too early it is. */
    Optional<Duration> begin(String address) {
      long now = nanoTime.getAsLong();
      Duration[] early = {Duration.ZERO};
      counts
          .asMap()
          .computeIfPresent(
              address,
              (key, count) -> {
                if (isOver(count, now)) {
                  return null;
                }
                early[0] = Duration.ofNanos(Math.max(0, count.until() - now));
                return early[0].isZero() ? paused(count, now) : count;
              });
      return Optional.of(early[0]).filter(it -> !it.isZero());
    }

    /** Notes that a try was of no guesser's: the next one may begin at once. */
    void forgive(String address) {
      long now = nanoTime.getAsLong();
      counts
          .asMap()
          .computeIfPresent(address, (key, count) -> new Count(count.names(), count.since(), now));
    }

    /** Counts a name that was given with a wrong password for the first time. */
    void add(String address) {
      long now = nanoTime.getAsLong();
      counts
          .asMap()
          .compute(
              address,
              (key, count) ->
                  count == null || isOver(count, now)
                      ? new Count(1, now, now)
                      : paused(new Count(count.names() + 1, count.since(), count.until()), now));
    }

    private static boolean isOver(Count count, long now) {
      return now - count.since() > COUNTED.toNanos();
    }

    private static Count paused(Count count, long now) {
      int beyond = count.names() - FREE_NAMES;
      if (beyond < 0) {
        return count;
      }
      long pause = SHORTEST_PAUSE.toNanos() << Math.min(beyond, MAX_DOUBLINGS);
      long until = now + Math.min(pause, LONGEST_PAUSE.toNanos());
      return new Count(count.names(), count.since(), until);
    }
  }
}
