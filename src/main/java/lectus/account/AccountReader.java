package lectus.account;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.access.UserContext;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Reads accounts. As in CouchDB, an admin's password is the admin's, and the roles of a user's
 * document with his name come to his own.
 */
final class AccountReader {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final Admins admins;

  AccountReader(Catalogue catalogue, TransactionRunner transactions, Admins admins) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.admins = admins;
  }

  /** Reads the account of a name; empty if there is none. */
  Optional<StoredAccount> read(String name) {
    boolean mayExist =
        !name.isEmpty()
            && name.getBytes(StandardCharsets.UTF_8).length <= UserDocumentRule.MOST_NAME_BYTES;
    return mayExist ? transactions.read(tx -> read(tx, name)) : Optional.empty();
  }

  private Optional<StoredAccount> read(ReadTransaction tx, String name) {
    CompletableFuture<Optional<String>> reading = admins.reading(tx, name);
    Optional<DatabaseHandle> users = catalogue.currentAll(tx, List.of(UserDocuments.USERS)).get(0);
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
