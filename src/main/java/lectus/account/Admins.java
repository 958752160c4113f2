package lectus.account;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.account.AdminsSubspace.Admin;
import lectus.account.PasswordHash.Pbkdf2Hash;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/** The store's admins. Every server of the store sees a change within half a second. */
public final class Admins {
  /** More than any team has; all of them are read where they are listed. */
  static final int MOST = 1_000;

  private final AdminsSubspace rows;
  private final TransactionRunner transactions;

  public Admins(Store store) {
    this(store, new TransactionRunner(store, TransactionLimits.DEFAULT));
  }

  Admins(Store store, TransactionRunner transactions) {
    this.rows = new AdminsSubspace(store.rootPrefix());
    this.transactions = transactions;
  }

  public boolean isAny() {
    return transactions.read(this::isAny);
  }

  boolean isAny(ReadTransaction tx) {
    return !read(tx, 1).isEmpty();
  }

  /** Returns the names and hashes, in the order of the names. */
  public List<Admin> all() {
    return transactions.read(tx -> read(tx, MOST)).stream().map(rows::admin).toList();
  }

  /** Returns the hash of an admin's password, as CouchDB's section {@code [admins]} has it. */
  public Optional<String> hash(String name) {
    return transactions.read(tx -> hash(tx, name));
  }

  /** Whether a password, or the hash of one, is that of an admin. Takes time. */
  public boolean accepts(String name, String password) {
    Optional<String> stored = hash(name);
    return stored.equals(Optional.of(password))
        || stored.flatMap(PasswordHash::of).filter(hash -> hash.matches(password)).isPresent();
  }

  Optional<String> hash(ReadTransaction tx, String name) {
    return Awaiting.await(reading(tx, name));
  }

  CompletableFuture<Optional<String>> reading(ReadTransaction tx, String name) {
    return tx.get(rows.key(name))
        .thenApply(it -> Optional.ofNullable(it).map(AdminsSubspace::hash));
  }

  /**
   * Makes an admin, or gives one another password.
   *
   * @param hash as {@link #hashOf} returns it
   * @return the former hash
   * @throws LectusException {@code bad_request}: the name cannot be used
   */
  public Optional<String> put(String name, String hash) {
    checkName(name);
    return transactions.run(
        tx -> {
          Optional<String> former = hash(tx, name);
          if (former.isEmpty()) {
            checkNumber(tx);
          }
          tx.set(rows.key(name), AdminsSubspace.value(hash));
          return former;
        });
  }

  public void putIfMissing(String name, String hash) {
    checkName(name);
    transactions.run(
        tx -> {
          if (hash(tx, name).isEmpty()) {
            checkNumber(tx);
            tx.set(rows.key(name), AdminsSubspace.value(hash));
          }
          return null;
        });
  }

  /** Replaces a hash by a better one of the same password, unless it was changed meanwhile. */
  void replace(String name, String former, String hash) {
    transactions.run(
        tx -> {
          if (hash(tx, name).equals(Optional.of(former))) {
            tx.set(rows.key(name), AdminsSubspace.value(hash));
          }
          return null;
        });
  }

  /**
   * @return the hash of the admin's password; empty if there was no such admin
   */
  public Optional<String> remove(String name) {
    return transactions.run(
        tx -> {
          Optional<String> former = hash(tx, name);
          tx.clear(rows.key(name));
          return former;
        });
  }

  /**
   * Returns what is stored of a password. Takes time.
   *
   * @param password or a hash in CouchDB's form, which remains as it is
   * @throws LectusException {@code bad_request}: it is empty, too long, or a hash that cannot be
   *     used
   */
  public static String hashOf(String password, int iterations) {
    if (password.isEmpty()) {
      throw LectusException.badRequest("The password of an admin is empty.");
    }
    if (!PasswordHash.isClaimedBy(password)) {
      NewPassword.checkLength(password);
      return Pbkdf2Hash.of(password, iterations).text();
    }
    return PasswordHash.of(password)
        .map(PasswordHash::text)
        .orElseThrow(() -> LectusException.badRequest("The hash of a password cannot be used."));
  }

  private List<KeyValue> read(ReadTransaction tx, int limit) {
    return Awaiting.await(tx.getRange(rows.range(), limit).asList());
  }

  private void checkNumber(Transaction tx) {
    if (read(tx, MOST).size() == MOST) {
      throw LectusException.forbidden("There are " + MOST + " admins, which is the limit.");
    }
  }

  /** A colon ends the name in HTTP's Basic authentication. */
  private static void checkName(String name) {
    boolean isUsable =
        !name.isEmpty()
            && name.indexOf(':') < 0
            && name.chars().noneMatch(Character::isISOControl)
            && name.getBytes(StandardCharsets.UTF_8).length <= UserDocumentRule.MAX_NAME_BYTES;
    if (!isUsable) {
      throw LectusException.badRequest(
          "The name of an admin has 1 to %s bytes, and neither a colon nor control characters."
              .formatted(UserDocumentRule.MAX_NAME_BYTES));
    }
  }
}
