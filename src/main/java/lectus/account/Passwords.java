package lectus.account;

import com.github.benmanes.caffeine.cache.Cache;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import lectus.account.AccountSettings.Lockout;
import lectus.account.KnownAccounts.StoredAccount;
import lectus.account.LoggingIn.LogIn;
import lectus.account.LoggingIn.LogIn.Conflicted;
import lectus.account.LoggingIn.LogIn.Granted;
import lectus.account.LoggingIn.LogIn.LockedOut;
import lectus.account.LoggingIn.LogIn.Refused;
import lectus.account.LoggingIn.LogIn.Slowed;
import lectus.account.LoggingIn.LoginThrottle;
import lectus.account.PasswordHash.Pbkdf2Hash;
import lectus.database.DatabaseRequest;
import lectus.database.UserContext;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.NamedRevisions;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.write.DocumentWriter;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.metrics.CacheMetrics;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares passwords with accounts: from memory if one was right lately, else by hashing. A wrong
 * password takes as long as a wrong name. Thread-safe.
 */
final class Passwords implements Measured, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Passwords.class);

  private static final int MAX_GUESTS = 10_000;

  private final KnownAccounts accounts;
  private final PasswordUpgrade upgrade;
  private final Supplier<Lockout> lockout;
  private final int iterations;
  final VerifiedPasswords verified;
  private final WrongPasswords wrong;
  private final LoginThrottle guessers;
  private final Hashing hashing = new Hashing();

  private final CacheMetrics figures = new CacheMetrics("guests");
  private final Cache<Guest, Boolean> guests = figures.cache().maximumSize(MAX_GUESTS).build();

  private final LongAdder granted = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder lockedOut = new LongAdder();

  /** Somebody who has logged in, and from where. */
  private record Guest(String name, String address) {}

  Passwords(
      KnownAccounts accounts,
      PasswordUpgrade upgrade,
      Supplier<Lockout> lockout,
      LongSupplier nanoTime) {
    this.accounts = accounts;
    this.lockout = lockout;
    this.upgrade = upgrade;
    this.verified = new VerifiedPasswords(nanoTime);
    this.wrong = new WrongPasswords(nanoTime);
    this.guessers = new LoginThrottle(nanoTime);
    this.iterations = upgrade.iterations();
  }

  /**
   * Whether the password was found right lately, and is the account's still. While the name is
   * locked for the address nothing is, or one could go on to guess. Never waits.
   */
  boolean isVerified(StoredAccount account, String password, String address) {
    return isVerified(account, password)
        && lockedFor(attempt(Optional.of(account), account.name(), address)).isEmpty();
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
      return hashing.begin(Hashing.Turn.GUEST, address, () -> compareNow(name, password, address));
    }
    Optional<Duration> pause = guessers.begin(address);
    return pause.isPresent()
        ? CompletableFuture.completedFuture(new Slowed(pause.get()))
        : hashing.begin(
            Hashing.Turn.STRANGER, address, () -> compareStranger(name, password, address));
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

  private Optional<LogIn> withoutHash(
      Optional<StoredAccount> account, String name, String password, String address) {
    Optional<LogIn> locked = locked(account, name, address);
    return locked.isPresent()
        ? locked
        : account.filter(it -> isVerified(it, password)).map(it -> new Granted(it.account()));
  }

  /** Returns the refusal of a name that is locked for the address. Never waits. */
  Optional<LogIn> locked(Optional<StoredAccount> account, String name, String address) {
    Optional<Duration> left = lockedFor(attempt(account, name, address));
    left.ifPresent(it -> lockedOut.increment());
    return left.map(LockedOut::new);
  }

  private Optional<Duration> lockedFor(WrongPasswords.Attempt attempt) {
    return lockout.get() == Lockout.ENFORCE ? wrong.lockedFor(attempt) : Optional.empty();
  }

  private static WrongPasswords.Attempt attempt(
      Optional<StoredAccount> account, String name, String address) {
    return new WrongPasswords.Attempt(name, address, account.map(StoredAccount::salt).orElse(""));
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
    WrongPasswords.Attempt attempt = attempt(account, name, address);
    Optional<PasswordHash> hash = account.flatMap(it -> it.password().or(it::disputed));
    if (!isRight(hash, password)) {
      int times = wrong.add(attempt);
      if (times == 1 && !isGuest(name, address)) {
        guessers.add(address);
      }
      if (times == WrongPasswords.MAX_WRONG && lockout.get() == Lockout.WARN) {
        LOG.warn("{} wrong passwords of one name came from {}", times, address);
      }
      refused.increment();
      return new Refused();
    }
    if (account.orElseThrow().password().isEmpty()) {
      return new Conflicted();
    }
    verified.add(name, password, hash.orElseThrow());
    wrong.counts.invalidate(attempt);
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
          .begin(
              Hashing.Turn.LAST,
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

  /**
   * Names and passwords that were verified during the last minute, so that a client that sends them
   * with each request is not hashed each time. Only a keyed digest of them is kept, whose key this
   * process alone has, and which hash they matched: another hash is another password. Thread-safe.
   */
  static final class VerifiedPasswords {
    static final Duration KEPT = Duration.ofMinutes(1);

    private static final int MOST = 10_000;
    private static final int KEY_BYTES = 32;
    private static final String ALGORITHM = "HmacSHA256";

    private final Mac mac = mac();
    private final CacheMetrics figures = new CacheMetrics("verified_passwords");
    private final Cache<ByteBuffer, String> hashes;

    VerifiedPasswords(LongSupplier nanoTime) {
      this.hashes =
          figures
              .cache()
              .maximumSize(MOST)
              .expireAfterWrite(KEPT)
              .ticker(nanoTime::getAsLong)
              .build();
    }

    void describe(Meters meters) {
      figures.describe(meters, hashes::estimatedSize);
    }

    void add(String name, String password, PasswordHash hash) {
      hashes.put(digest(name, password), hash.text());
    }

    /** Whether the password was verified against this hash. */
    boolean contains(String name, String password, PasswordHash hash) {
      return hash.text().equals(hashes.getIfPresent(digest(name, password)));
    }

    /** Whether the password was verified lately, against whatever hash. */
    boolean contains(String name, String password) {
      return hashes.getIfPresent(digest(name, password)) != null;
    }

    private ByteBuffer digest(String name, String password) {
      try {
        Mac own = (Mac) mac.clone();
        byte[] named = name.getBytes(StandardCharsets.UTF_8);
        own.update(ByteBuffer.allocate(Integer.BYTES).putInt(named.length).flip());
        own.update(named);
        return ByteBuffer.wrap(own.doFinal(password.getBytes(StandardCharsets.UTF_8)));
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException("The JDK's Macs can be cloned", e);
      }
    }

    private static Mac mac() {
      byte[] key = new byte[KEY_BYTES];
      new SecureRandom().nextBytes(key);
      try {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(new SecretKeySpec(key, ALGORITHM));
        return mac;
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("Every JDK has " + ALGORITHM, e);
      }
    }
  }

  /**
   * Counts wrong passwords by name and address, and locks them out, with the defaults of CouchDB
   * 3.5 ({@code [chttpd_auth_lockout]}). Another password of the account ends a lock-out.
   * Thread-safe.
   */
  static final class WrongPasswords {
    /** After so many, nothing is compared any more. */
    static final int MAX_WRONG = 5;

    /** How long a wrong password counts, from the first one on. */
    static final Duration COUNTED = Duration.ofMinutes(5);

    private static final int MAX_COUNTS = 10_000;

    /** Names are cut off, so that a client cannot make the table large. */
    private static final int LONGEST_NAME = 64;

    private final LongSupplier nanoTime;
    private final CacheMetrics figures = new CacheMetrics("wrong_passwords");
    private final Cache<Attempt, Count> counts = figures.cache().maximumSize(MAX_COUNTS).build();

    /**
     * @param salt of the account's password; empty if there is none
     */
    record Attempt(String name, String address, String salt) {
      Attempt {
        name =
            name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) + name.hashCode() : name;
      }
    }

    private record Count(int wrong, long since) {}

    WrongPasswords(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    void describe(Meters meters) {
      figures.describe(meters, counts::estimatedSize);
    }

    /** Returns for how long nobody may try; empty if one may. */
    Optional<Duration> lockedFor(Attempt attempt) {
      Count count = counts.getIfPresent(attempt);
      return count == null || count.wrong() < MAX_WRONG
          ? Optional.empty()
          : Optional.of(COUNTED.minusNanos(ageOf(count))).filter(left -> !left.isNegative());
    }

    /** Counts a wrong password; returns how many there are. */
    int add(Attempt attempt) {
      Count added =
          counts
              .asMap()
              .compute(
                  attempt,
                  (key, count) ->
                      count == null || isOver(count)
                          ? new Count(1, nanoTime.getAsLong())
                          : new Count(count.wrong() + 1, count.since()));
      return added.wrong();
    }

    private boolean isOver(Count count) {
      return ageOf(count) > COUNTED.toNanos();
    }

    private long ageOf(Count count) {
      return nanoTime.getAsLong() - count.since();
    }
  }

  /**
   * Replaces the hash of a password that has just been right by one of the current scheme. The salt
   * remains, and with it the cookies that were signed with it.
   */
  record PasswordUpgrade(
      Admins admins,
      DocumentReader documents,
      DocumentParser parser,
      DocumentWriter writer,
      int iterations) {

    boolean isNeededBy(PasswordHash hash) {
      return !(hash instanceof Pbkdf2Hash pbkdf2 && pbkdf2.isCurrent(iterations));
    }

    /**
     * Takes time. If the account changes meanwhile it remains as it is.
     *
     * @param matched what the password was compared with
     */
    void run(StoredAccount account, PasswordHash matched, String password) {
      String name = account.user().name().orElseThrow();
      if (account.isAdmin()) {
        String hash = Pbkdf2Hash.of(password, matched.salt(), iterations).text();
        admins.replace(name, matched.text(), hash);
      } else {
        upgradeDocument(UserDocuments.idOf(name), matched, password);
      }
    }

    private void upgradeDocument(String id, PasswordHash matched, String password) {
      JsonBuffer out = new JsonBuffer(512);
      documents.read(DatabaseRequest.byServer(UserDocuments.USERS), id, DocumentQuery.DEFAULT, out);
      JsonObject stored = (JsonObject) JsonValue.parse(out.toBytes());
      if (PasswordHash.of(stored).equals(Optional.of(matched))) {
        Edit edit =
            parser
                .interactive(id, NamedRevisions.NONE, withPassword(stored, password))
                .by(UserContext.SERVER);
        writer.write(UserDocuments.USERS, List.of(NewPassword.hashed(edit, parser, iterations)));
      }
    }

    private static byte[] withPassword(JsonObject stored, String password) {
      Map<String, JsonValue> members = new LinkedHashMap<>(stored.members());
      members.put("password", new JsonString(password));
      members.put("preserve_salt", new JsonBool(true));
      return new JsonObject(members).toBytes();
    }
  }
}
