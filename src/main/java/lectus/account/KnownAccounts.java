package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import lectus.account.Accounts.NamedAccount;
import lectus.database.UserContext;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.store.Awaiting;

/**
 * Accounts that were looked up lately. What is told is never older than half a second. An account
 * that is asked for often is looked up again before it is that old, so that nobody waits for it.
 * Thread-safe.
 */
final class KnownAccounts {
  /** How old an account may be. A change has to reach every server within a second. */
  static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final long LOOKED_AGAIN_NANOS = MAX_NANOS / 2;
  private static final int MAX_ACCOUNTS = 10_000;

  /** An account counts as one more for each so many characters of its name and its roles. */
  private static final int CHARACTERS_PER_ACCOUNT = 1_024;

  private final Function<String, Optional<StoredAccount>> reading;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final CacheMetrics figures = new CacheMetrics("accounts");
  private final Cache<String, Look> looks =
      figures
          .cache()
          .maximumWeight(MAX_ACCOUNTS)
          .weigher((String name, Look look) -> look.weight(name))
          .build();

  private final Map<String, UnderWay> underWay = new ConcurrentHashMap<>();

  /** A look that others wait for, too. */
  private record UnderWay(long at, CompletableFuture<Optional<StoredAccount>> found) {
    /** What another look finds that takes long may be too old by then. */
    private UnderWay orEarlier(UnderWay other) {
      return other != null && at - other.at <= MAX_NANOS ? other : this;
    }
  }

  /**
   * @param account empty: it changed at that time
   * @param at when the look began
   * @param isRepeated whether another look has begun
   */
  private record Look(
      Optional<Optional<StoredAccount>> account, long at, AtomicBoolean isRepeated) {
    private static Look of(Optional<StoredAccount> account, long at) {
      return new Look(Optional.of(account), at, new AtomicBoolean());
    }

    private static Look none(long at) {
      return new Look(Optional.empty(), at, new AtomicBoolean());
    }

    /** A look that began earlier may end later. */
    private Look orLater(Look other) {
      return other.at - at >= 0 ? other : this;
    }

    /** Whoever asks chooses the name, so that of nobody may be as long as a header. */
    private int weight(String name) {
      int roles =
          account.flatMap(it -> it).stream()
              .flatMap(it -> it.user().roles().stream())
              .mapToInt(String::length)
              .sum();
      return 1 + (name.length() + roles) / CHARACTERS_PER_ACCOUNT;
    }
  }

  /**
   * @param executor looks again in time
   */
  KnownAccounts(
      Function<String, Optional<StoredAccount>> reading, Executor executor, LongSupplier nanoTime) {
    this.reading = reading;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  CacheMetrics figures() {
    return figures;
  }

  void describe(Meters meters) {
    figures.describe(meters, looks::estimatedSize);
  }

  /** The outer Optional is empty if the account was not looked up lately. Never waits. */
  Optional<Optional<StoredAccount>> recall(String name) {
    Look look = looks.getIfPresent(name);
    if (look == null) {
      return Optional.empty();
    }
    long age = nanoTime.getAsLong() - look.at();
    if (age > MAX_NANOS) {
      return Optional.empty();
    }
    if (age > LOOKED_AGAIN_NANOS
        && look.account().isPresent()
        && look.isRepeated().compareAndSet(false, true)) {
      lookSoon(name);
    }
    return look.account();
  }

  /**
   * Returns the account; waits for the store if it was not looked up lately. Of those who ask
   * meanwhile, one looks for all.
   */
  Optional<StoredAccount> get(String name) {
    return recall(name).orElseGet(() -> lookOnce(name));
  }

  private Optional<StoredAccount> lookOnce(String name) {
    UnderWay own = new UnderWay(nanoTime.getAsLong(), new CompletableFuture<>());
    UnderWay first = underWay.compute(name, (same, other) -> own.orEarlier(other));
    if (first != own) {
      return Awaiting.await(first.found());
    }
    try {
      own.found().complete(look(name));
    } catch (RuntimeException | Error failure) {
      own.found().completeExceptionally(failure);
    } finally {
      underWay.remove(name, own);
    }
    return Awaiting.await(own.found());
  }

  /** Returns the account as it is now; waits for the store. */
  Optional<StoredAccount> look(String name) {
    long before = nanoTime.getAsLong();
    Optional<StoredAccount> account = reading.apply(name);
    looks.asMap().merge(name, Look.of(account, before), Look::orLater);
    return account;
  }

  /** Whoever asks from now on gets the account as it is by then. */
  void forget(String name) {
    underWay.remove(name);
    looks.put(name, Look.none(nanoTime.getAsLong()));
  }

  private void lookSoon(String name) {
    try {
      executor.execute(() -> look(name));
    } catch (RejectedExecutionException busy) {
      // The next request for the account looks again.
    }
  }

  /**
   * What the store has of an account.
   *
   * @param password empty if nobody can log in
   * @param disputed the password of a document in conflict: it lets nobody in, but who knows it is
   *     told why
   * @param isAdmin whether the password is that of an admin, not of a user's document
   */
  record StoredAccount(
      UserContext user,
      Optional<PasswordHash> password,
      Optional<PasswordHash> disputed,
      boolean isAdmin) {
    static StoredAccount ofAdmin(UserContext user, Optional<PasswordHash> password) {
      return new StoredAccount(user, password, Optional.empty(), true);
    }

    static StoredAccount ofUser(UserContext user, UserMembers members) {
      return new StoredAccount(user, members.password(), members.disputedPassword(), false);
    }

    NamedAccount account() {
      return new NamedAccount(user, salt());
    }

    String name() {
      return user.name().orElseThrow();
    }

    /** Empty if there is no password. */
    String salt() {
      return password.map(PasswordHash::salt).orElse("");
    }
  }
}
