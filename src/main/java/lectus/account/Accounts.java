package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.account.KnownAccounts.StoredAccount;
import lectus.account.Passwords.PasswordUpgrade;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.UserContext;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.read.DocumentReader;
import lectus.document.write.DocumentWriter;
import lectus.error.LectusException;
import lectus.metrics.CacheMetrics;
import lectus.metrics.DaemonThreads;
import lectus.metrics.Meters;
import lectus.metrics.Meters.Measured;
import lectus.store.Awaiting;
import lectus.store.RegularLook;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * The accounts of a store. What it says is at most half a second old, whichever server changed it.
 * Thread-safe.
 */
public final class Accounts implements Measured, AutoCloseable {
  /** Less than an account may be old, so that the look for admins itself has its time. */
  private static final long LOOK_MILLIS = 400;

  private final Supplier<AccountSettings> settings;
  private final Admins stored;
  private final RegularLook watch;

  /** What was seen last remains while the store does not answer. */
  private volatile boolean isAnyAdmin;

  private final KnownAccounts known;
  final Passwords passwords;
  private final UserDatabaseMaking userDatabases;
  private final ExecutorService looks = looks();
  private final LoggingIn loggingIn;
  private final AdminChanges admins;
  private final UserEdits userEdits;
  private final CookieSecret cookieSecret;

  /**
   * @param writer replaces hashes of earlier schemes
   * @param settings what concerns lock-outs, users' databases and the security of {@code _users}
   *     may change at any time
   */
  public Accounts(
      Store store,
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      DocumentWriter writer,
      Supplier<AccountSettings> settings) {
    this(store, catalogue, documents, parser, writer, settings, System::nanoTime);
  }

  Accounts(
      Store store,
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      DocumentWriter writer,
      Supplier<AccountSettings> settings,
      LongSupplier nanoTime) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.stored = new Admins(store, transactions);
    this.settings = settings;
    this.watch = new RegularLook("lectus-admins", LOOK_MILLIS, this::lookForAdmins);
    this.userDatabases = new UserDatabaseMaking(settings, catalogue, transactions, store.tasks());
    AccountReader reader = new AccountReader(catalogue, transactions, stored);
    this.known = new KnownAccounts(reader::read, looks, nanoTime);
    this.passwords =
        new Passwords(
            known,
            new PasswordUpgrade(stored, documents, parser, writer, settings.get().iterations()),
            () -> settings.get().lockout(),
            nanoTime);
    Hashing hashing = passwords.hashing();
    this.loggingIn = new LoggingIn(known, passwords, looks);
    this.admins =
        new AdminChanges(stored, this::lookForAdmins, known, hashing, settings.get().iterations());
    this.userEdits = new UserEdits(settings, parser, hashing, known, userDatabases);
    this.cookieSecret = new CookieSecret(store, transactions);
  }

  /** Looks up whether there are admins, now and from now on. Waits for the store. */
  public Accounts start() {
    watch.start();
    userDatabases.beginAll();
    return this;
  }

  /** Makes the databases that users lack, if that is wanted, in the background. */
  public void makeUserDatabases() {
    userDatabases.beginAll();
  }

  @Override
  public void describe(Meters meters) {
    passwords.describe(meters);
  }

  /** Returns how often an account had been looked up before. */
  public CacheMetrics lookUps() {
    return known.figures();
  }

  private void lookForAdmins() {
    isAnyAdmin = stored.isAny();
  }

  /** Whether an admin exists. Never waits. */
  public boolean hasAdmin() {
    return isAnyAdmin;
  }

  /**
   * Returns as whom a request without a log-in is served: as an admin while there is none, on a
   * server that trusts whoever reaches it, else as anonymous. Never waits.
   */
  public UserContext nobody() {
    return settings.get().admitsEverybody() && !hasAdmin()
        ? UserContext.ADMIN_PARTY
        : UserContext.ANONYMOUS;
  }

  /**
   * Returns the account of a name if it was looked at lately. The outer Optional is empty if that
   * is not so, the inner one if there is no such account. Never waits.
   */
  public Optional<Optional<NamedAccount>> recallAccount(String name) {
    return known.recall(name).map(account -> account.map(StoredAccount::account));
  }

  /** Returns the account of a name; waits for the store. */
  public Optional<NamedAccount> account(String name) {
    return known.get(name).map(StoredAccount::account);
  }

  /** Returns the account of a name as it is now; waits for the store. */
  public Optional<NamedAccount> current(String name) {
    return known.look(name).map(StoredAccount::account);
  }

  public LoggingIn loggingIn() {
    return loggingIn;
  }

  public AdminChanges admins() {
    return admins;
  }

  public UserEdits userEdits() {
    return userEdits;
  }

  public CookieSecret cookieSecret() {
    return cookieSecret;
  }

  @Override
  public void close() {
    watch.close();
    looks.shutdownNow();
    userDatabases.close();
    passwords.close();
  }

  private static ExecutorService looks() {
    return Executors.newFixedThreadPool(2, DaemonThreads.named("lectus-accounts"));
  }

  /**
   * Reads accounts. As in CouchDB, an admin's password is the admin's, and the roles of a user's
   * document of the same name are added to the admin's own.
   */
  private record AccountReader(Catalogue catalogue, TransactionRunner transactions, Admins admins) {
    /** Reads the account of a name; empty if there is none. */
    Optional<StoredAccount> read(String name) {
      boolean mayExist =
          !name.isEmpty()
              && name.getBytes(StandardCharsets.UTF_8).length <= UserDocumentRule.MAX_NAME_BYTES;
      return mayExist ? transactions.read(tx -> read(tx, name)) : Optional.empty();
    }

    private Optional<StoredAccount> read(ReadTransaction tx, String name) {
      CompletableFuture<Optional<String>> reading = admins.reading(tx, name);
      Optional<DatabaseHandle> users =
          catalogue.currentAll(tx, List.of(UserDocuments.USERS)).get(0);
      Optional<String> admin = Awaiting.await(reading);
      Optional<UserMembers> user =
          users.flatMap(db -> UserMembers.read(tx, db, UserDocuments.idOf(name)));
      return admin
          .map(hash -> admin(name, hash, user))
          .or(() -> user.map(members -> user(name, members)));
    }

    private static StoredAccount admin(String name, String hash, Optional<UserMembers> user) {
      Set<String> roles = new HashSet<>(user.map(UserMembers::roles).orElse(Set.of()));
      roles.add(UserContext.SERVER_ADMIN);
      return StoredAccount.ofAdmin(UserContext.named(name, roles), PasswordHash.of(hash));
    }

    private static StoredAccount user(String name, UserMembers members) {
      return StoredAccount.ofUser(UserContext.named(name, members.roles()), members);
    }
  }

  /**
   * The secret with which cookies are signed, the same for all servers of the store: whoever needs
   * it first makes it. Thread-safe.
   */
  public static final class CookieSecret {
    private final SecretsSubspace rows;
    private final TransactionRunner transactions;
    private volatile byte[] known;

    CookieSecret(Store store, TransactionRunner transactions) {
      this.rows = new SecretsSubspace(store.rootPrefix());
      this.transactions = transactions;
    }

    /** Returns the secret if it is known already. Never waits. */
    public Optional<byte[]> recall() {
      return Optional.ofNullable(known).map(byte[]::clone);
    }

    /** Returns the secret; waits for the store. */
    public byte[] read() {
      if (known == null) {
        known =
            transactions
                .read(this::stored)
                .orElseGet(() -> transactions.run(tx -> stored(tx).orElseGet(() -> made(tx))));
      }
      return known.clone();
    }

    private Optional<byte[]> stored(ReadTransaction tx) {
      return Optional.ofNullable(Awaiting.await(tx.get(rows.cookieKey())))
          .map(SecretsSubspace::secret);
    }

    private byte[] made(Transaction tx) {
      byte[] secret = new byte[SecretsSubspace.LENGTH];
      new SecureRandom().nextBytes(secret);
      tx.set(rows.cookieKey(), SecretsSubspace.value(secret));
      return secret;
    }
  }

  /** What edits of users' documents need before they are written, and afterwards. Thread-safe. */
  public static final class UserEdits {
    private final Supplier<AccountSettings> settings;
    private final DocumentParser parser;
    private final Hashing hashing;
    private final KnownAccounts known;
    private final UserDatabaseMaking userDatabases;

    UserEdits(
        Supplier<AccountSettings> settings,
        DocumentParser parser,
        Hashing hashing,
        KnownAccounts known,
        UserDatabaseMaking userDatabases) {
      this.settings = settings;
      this.parser = parser;
      this.hashing = hashing;
      this.known = known;
      this.userDatabases = userDatabases;
    }

    /**
     * @throws LectusException {@code forbidden} (403): it is the database of users, and the
     *     configuration does not let its {@code _security} be changed
     */
    public void checkSecurityMayChange(DatabaseName database) {
      if (database.equals(UserDocuments.USERS) && !settings.get().letsUsersSecurityChange()) {
        throw LectusException.forbidden("You can't edit the security object of the user database.");
      }
    }

    /** Whether an edit of a database of users brings a password, which is to be hashed first. */
    public boolean needsHashing(Edit edit) {
      return NewPassword.isIn(edit);
    }

    /**
     * Begins to replace the password of a user's document by its hash.
     *
     * @return fails with Unavailable (503) if too many wait, with {@code forbidden} (403) if the
     *     password cannot be used
     */
    public CompletableFuture<Edit> hash(Edit edit) {
      return hashing.begin(
          edit.by().isServerAdmin() ? Hashing.Turn.GUEST : Hashing.Turn.STRANGER,
          edit.by().name().orElse(""),
          () -> hashed(edit));
    }

    /** Like {@link #hash}, for one of many edits, without a delay to those who log in. */
    public CompletableFuture<Edit> hashOfImport(Edit edit) {
      return hashing.begin(Hashing.Turn.IMPORT, edit.by().name().orElse(""), () -> hashed(edit));
    }

    /** Returns how many of {@link #hashOfImport} are worth being begun at a time. */
    public int importsAtOnce() {
      return Hashing.IMPORTS_AT_ONCE;
    }

    /** Returns the description of a replication with its owner; waits for the store. */
    public Edit owned(Edit edit, boolean isAdmin) {
      return ReplicatorDocuments.owned(
          edit, isAdmin, name -> known.get(name).map(it -> it.account().user()), parser);
    }

    private Edit hashed(Edit edit) {
      return NewPassword.hashed(edit, parser, settings.get().iterations());
    }

    /**
     * Begins to bring everything up to users' documents that were written: what this server
     * remembers of them, and their own databases.
     */
    public CompletableFuture<Void> follow(Collection<String> users) {
      users.forEach(known::forget);
      return userDatabases.begin(users);
    }
  }

  /**
   * An account as it is now.
   *
   * @param salt changes with the password; a cookie is signed with it, so that it ends with the
   *     password
   */
  public record NamedAccount(UserContext user, String salt) {}
}
