package lectus.account;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import lectus.access.UserContext;
import lectus.account.LogIn.Refused;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.read.DocumentReader;
import lectus.document.write.DocumentWriter;
import lectus.error.LectusException;
import lectus.measure.Measured;
import lectus.measure.Meters;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * The accounts of a store. What it says is at most half a second old, whichever server changed it.
 * Thread-safe.
 */
public final class Accounts implements Measured, AutoCloseable {
  private final AccountSettings settings;
  private final Admins admins;
  private final AdminWatch watch;
  private final Secrets secrets;
  private final KnownAccounts known;
  private final Passwords passwords;
  private final DocumentParser parser;
  private final UserDatabaseMaking userDatabases;
  private final ExecutorService looks = looks();
  private volatile byte[] cookieSecret;

  /**
   * @param writer replaces hashes of earlier schemes
   */
  public Accounts(
      Store store,
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      DocumentWriter writer,
      AccountSettings settings) {
    this(store, catalogue, documents, parser, writer, settings, System::nanoTime);
  }

  Accounts(
      Store store,
      Catalogue catalogue,
      DocumentReader documents,
      DocumentParser parser,
      DocumentWriter writer,
      AccountSettings settings,
      LongSupplier nanoTime) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.settings = settings;
    this.parser = parser;
    this.admins = new Admins(store, transactions);
    this.watch = new AdminWatch(admins::isAny);
    this.userDatabases = new UserDatabaseMaking(settings, catalogue, transactions, store.tasks());
    this.secrets = new Secrets(store, transactions);
    AccountReader reader = new AccountReader(catalogue, transactions, admins);
    this.known = new KnownAccounts(reader::read, looks, nanoTime);
    this.passwords =
        new Passwords(
            known,
            new PasswordUpgrade(admins, documents, parser, writer, settings.iterations()),
            nanoTime);
  }

  /** Looks up whether there are admins, now and from now on. Waits for the store. */
  public Accounts start() {
    watch.start();
    userDatabases.beginAll();
    return this;
  }

  @Override
  public void describe(Meters meters) {
    passwords.describe(meters);
  }

  /** Whether an admin exists. Never waits. */
  public boolean hasAdmin() {
    return watch.isAny();
  }

  /**
   * Returns as whom a request without a log-in is served: as an admin while there is none, on a
   * server that trusts whoever reaches it, else as anonymous. Never waits.
   */
  public UserContext nobody() {
    return settings.admitsEverybody() && !hasAdmin()
        ? UserContext.ADMIN_PARTY
        : UserContext.ANONYMOUS;
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

  /** The account of a stranger is looked at when it is his turn to have a password hashed. */
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

  /** Returns the secret with which cookies are signed, if it is known already. Never waits. */
  public Optional<byte[]> recallCookieSecret() {
    return Optional.ofNullable(cookieSecret).map(byte[]::clone);
  }

  /** Returns the secret with which cookies are signed; waits for the store. */
  public byte[] cookieSecret() {
    if (cookieSecret == null) {
      cookieSecret = secrets.cookie();
    }
    return cookieSecret.clone();
  }

  /** Returns the admins and their passwords' hashes; waits for the store. */
  public List<AdminsSubspace.Admin> admins() {
    return admins.all();
  }

  /**
   * Makes an admin, or gives one another password. Waits.
   *
   * @param password or its hash in CouchDB's form
   * @return the former hash
   * @throws LectusException {@code bad_request}: the name or the password cannot be used;
   *     Unavailable: too many log in at once
   */
  public Optional<String> putAdmin(String name, String password) {
    String hash =
        Awaiting.await(
            passwords
                .hashing()
                .begin(true, name, () -> Admins.hashOf(password, settings.iterations())));
    return changed(name, admins.put(name, hash));
  }

  /**
   * @return the hash of the admin's password; empty if there was no such admin
   */
  public Optional<String> removeAdmin(String name) {
    return changed(name, admins.remove(name));
  }

  private Optional<String> changed(String name, Optional<String> former) {
    known.look(name);
    watch.look();
    return former;
  }

  /**
   * @throws LectusException {@code forbidden} (403): it is the database of users, and the
   *     configuration does not let its {@code _security} be changed
   */
  public void checkSecurityMayChange(DatabaseName database) {
    if (database.equals(UserDocuments.USERS) && !settings.letsUsersSecurityChange()) {
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
    return passwords
        .hashing()
        .begin(
            edit.by().isServerAdmin(),
            edit.by().name().orElse(""),
            () -> NewPassword.hashed(edit, parser, settings.iterations()));
  }

  /** Like {@link #hash}, for one of many edits, without a delay to those who log in. */
  public CompletableFuture<Edit> hashOfImport(Edit edit) {
    return passwords
        .hashing()
        .beginImport(
            edit.by().name().orElse(""),
            () -> NewPassword.hashed(edit, parser, settings.iterations()));
  }

  /** Returns how many of {@link #hashOfImport} are worth being begun at a time. */
  public int importsAtOnce() {
    return Hashing.IMPORTS_AT_ONCE;
  }

  /**
   * Begins to bring everything up to users' documents that were written: what this server remembers
   * of them, and their own databases.
   */
  public CompletableFuture<Void> follow(Collection<String> users) {
    users.forEach(known::forget);
    return userDatabases.begin(users);
  }

  Hashing hashing() {
    return passwords.hashing();
  }

  @Override
  public void close() {
    watch.close();
    looks.shutdownNow();
    userDatabases.close();
    passwords.close();
  }

  private static ExecutorService looks() {
    return Executors.newFixedThreadPool(
        2,
        task -> {
          Thread thread = new Thread(task, "lectus-accounts");
          thread.setDaemon(true);
          return thread;
        });
  }
}
