package lectus.document.index;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lectus.database.AskedDatabase;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.document.DocumentId;
import lectus.document.alldocs.AllDocsRow;
import lectus.document.alldocs.AllDocsSubspace;
import lectus.document.design.DescribedIndexes;
import lectus.error.LectusException;
import lectus.index.IndexDefinition;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Makes the indexes of design documents that were stored by versions without indexes. It looks when
 * somebody first asks for a database's indexes; no such document can come later.
 */
public final class FormerDesigns {
  /** Design documents that one transaction looks at. */
  static final int DESIGNS_AT_ONCE = 100;

  /** After so long a transaction leaves the rest to the next, however slow the store is. */
  private static final long MOST_NANOS = 1_000_000_000;

  private static final int MOST_REMEMBERED = 100_000;

  /** The first id after those of design documents. */
  private static final String BEHIND_DESIGN = "_design0";

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final byte[] root;
  private final Set<DatabaseName> complete = ConcurrentHashMap.newKeySet();

  /**
   * @param root the prefix of the store's keys
   */
  public FormerDesigns(Catalogue catalogue, TransactionRunner transactions, byte[] root) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.root = root;
  }

  /**
   * Returns when the database has the indexes that its design documents describe, though perhaps
   * not all documents in them. A database that cannot be written keeps those that it has, until
   * somebody asks again.
   *
   * @throws LectusException {@code not_found}; what the permit says
   */
  public void makeIndexes(AskedDatabase asked) {
    if (complete.contains(asked.name())) {
      return;
    }
    Optional<String> last = Optional.of(DocumentId.DESIGN_PREFIX);
    while (last.isPresent()) {
      String behind = last.get();
      Page page = transactions.read(tx -> page(tx, asked.current(tx, catalogue), behind));
      Optional<Page> done =
          page.missing().isEmpty() ? Optional.of(page) : made(asked.name(), behind);
      if (done.isEmpty()) {
        return;
      }
      last = done.get().last();
    }
    remember(asked.name());
  }

  /**
   * Some design documents.
   *
   * @param last the last of them; empty if no others follow
   * @param missing what they describe and the database does not have, by their ids
   */
  private record Page(Optional<String> last, Map<String, List<IndexDefinition>> missing) {}

  /** Returns empty if the database cannot be written. */
  private Optional<Page> made(DatabaseName name, String behind) {
    try {
      return Optional.of(
          transactions.<Page>runIdempotent(
              tx -> make(tx, catalogue.currentForWrites(tx, name), behind)));
    } catch (LectusException unwritable) {
      return Optional.empty();
    }
  }

  private void remember(DatabaseName name) {
    if (complete.size() >= MOST_REMEMBERED) {
      complete.clear();
    }
    complete.add(name);
  }

  private Page make(Transaction tx, DatabaseHandle db, String behind) {
    tx.addReadConflictRange(
        DatabaseSubspace.REVISIONS.key(db.prefix()).string(behind).toBytes(),
        DatabaseSubspace.REVISIONS.key(db.prefix()).string(BEHIND_DESIGN).toBytes());
    IndexListing listing = new IndexListing(tx, db, root);
    Page page = page(tx, db, behind);
    page.missing().forEach(listing::change);
    if (listing.finish()) {
      catalogue.moveVersion(tx, db);
    }
    return page;
  }

  private static Page page(ReadTransaction tx, DatabaseHandle db, String behind) {
    AllDocsSubspace rows = new AllDocsSubspace(db);
    byte[] begin = rows.key(behind + '\0');
    List<AllDocsRow> designs =
        Awaiting.await(
                tx.snapshot().getRange(begin, rows.key(BEHIND_DESIGN), DESIGNS_AT_ONCE).asList())
            .stream()
            .map(rows::decode)
            .toList();
    Map<String, List<IndexDefinition>> missing = new LinkedHashMap<>();
    long end = System.nanoTime() + MOST_NANOS;
    int looked = 0;
    while (looked < designs.size() && (looked == 0 || System.nanoTime() - end <= 0)) {
      AllDocsRow row = designs.get(looked++);
      List<IndexDefinition> described = DescribedIndexes.stored(tx, db, row.id(), row.winner());
      if (IndexListing.changes(db, row.id(), described)) {
        missing.put(row.id(), described);
      }
    }
    boolean isLast = looked == designs.size() && looked < DESIGNS_AT_ONCE;
    return new Page(isLast ? Optional.empty() : Optional.of(designs.get(looked - 1).id()), missing);
  }
}
