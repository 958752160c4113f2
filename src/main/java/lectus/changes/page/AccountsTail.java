package lectus.changes.page;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.account.AdminsSubspace;
import lectus.account.UserDocuments;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Finds out whose accounts changed, with one transaction however many there are. Not thread-safe.
 */
public final class AccountsTail {
  /** If more documents of users changed at once, all users are looked at. */
  private static final int MAX_CHANGES = 1_000;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final AdminsSubspace admins;

  /** Null before the first look. */
  private Seen before;

  /**
   * What changed since the last look, or may have.
   *
   * @param names whose accounts; empty: perhaps everybody's
   * @param anyDatabase whether the configuration of a database may have changed, or its security
   */
  public record Changes(Optional<Set<String>> names, boolean hasAdmin, boolean anyDatabase) {}

  /**
   * @param admins the hashes of their passwords, by name
   * @param life of the users' database; empty if there is none
   * @param last its last sequence; empty if nothing was ever written
   */
  private record Seen(
      byte[] metadataVersion,
      Map<String, String> admins,
      Optional<InstanceId> life,
      Optional<Sequence> last) {}

  private record Look(Seen now, Optional<Set<String>> users) {}

  public AccountsTail(Catalogue catalogue, TransactionRunner transactions, AdminsSubspace admins) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.admins = admins;
  }

  /** The first look finds that everything may have changed. */
  public Changes look() {
    Look look = transactions.read(this::look);
    Seen now = look.now();
    Seen known = before;
    before = now;
    boolean hasAdmin = !now.admins().isEmpty();
    if (known == null) {
      return new Changes(Optional.empty(), hasAdmin, true);
    }
    boolean anyDatabase = !Arrays.equals(known.metadataVersion(), now.metadataVersion());
    Optional<Set<String>> names =
        look.users().map(users -> union(users, difference(known.admins(), now.admins())));
    return new Changes(names, hasAdmin, anyDatabase);
  }

  private Look look(ReadTransaction tx) {
    byte[] metadataVersion = catalogue.metadataVersion(tx);
    CompletableFuture<List<KeyValue>> rows = tx.snapshot().getRange(admins.range()).asList();
    Optional<DatabaseHandle> users = catalogue.currentAll(tx, List.of(UserDocuments.USERS)).get(0);
    Optional<Sequence> last = users.flatMap(db -> Awaiting.await(new UpdateSequence(db).read(tx)));
    Seen now =
        new Seen(
            metadataVersion,
            admins(Awaiting.await(rows)),
            users.map(DatabaseHandle::instance),
            last);
    return new Look(now, users(tx, users, now));
  }

  private Map<String, String> admins(List<KeyValue> rows) {
    Map<String, String> hashes = new HashMap<>();
    for (KeyValue row : rows) {
      AdminsSubspace.Admin admin = admins.admin(row);
      hashes.put(admin.name(), admin.hash());
    }
    return hashes;
  }

  /** Returns whose documents changed; empty if it may be everybody's. */
  private Optional<Set<String>> users(
      ReadTransaction tx, Optional<DatabaseHandle> users, Seen now) {
    if (before == null || !before.life().equals(now.life())) {
      return Optional.empty();
    }
    if (users.isEmpty() || before.last().equals(now.last())) {
      return Optional.of(Set.of());
    }
    List<ChangeEntry> entries = new EntryReader(tx, users.get()).oldest(before.last(), MAX_CHANGES);
    Set<String> names = new HashSet<>();
    entries.forEach(entry -> UserDocuments.nameIn(entry.docId()).ifPresent(names::add));
    int mostPurges = (int) Math.min(MAX_CHANGES, users.get().configuration().purgedInfosLimit());
    // A purged user has no entry among the changes. Older purges may be forgotten already.
    List<PurgesSubspace.Purge> purges =
        Awaiting.await(new PurgesSubspace(users.get()).after(tx, before.last(), mostPurges));
    purges.forEach(purge -> UserDocuments.nameIn(purge.docId()).ifPresent(names::add));
    boolean isAll = entries.size() < MAX_CHANGES && purges.size() < mostPurges;
    return isAll ? Optional.of(names) : Optional.empty();
  }

  private static Set<String> difference(Map<String, String> one, Map<String, String> other) {
    Set<String> names = union(one.keySet(), other.keySet());
    names.removeIf(name -> one.get(name) != null && one.get(name).equals(other.get(name)));
    return names;
  }

  private static Set<String> union(Set<String> some, Set<String> more) {
    Set<String> all = new HashSet<>(some);
    all.addAll(more);
    return all;
  }
}
