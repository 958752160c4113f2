package lectus.account;

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
import java.util.function.Supplier;
import lectus.account.Accounts.NamedAccount;
import lectus.account.LoggingIn.LogIn.Refused;
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
}
