package lectus.document.upgrade;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import lectus.database.Catalogue;
import lectus.database.DatabaseCounters;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.RowPage;
import lectus.store.TransactionRunner;
import lectus.task.RunningTask;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Upgrades one database from the first format to the current one. One scan of the edit branches, a
 * page at a time, rewrites the documents whose branches have hashes as strings. Then the design
 * documents that ask for validation are listed ({@link ValidatorsListing}), and the database is
 * marked as current. Before the scan, the database is closed to servers of the earlier version,
 * because the scan might miss their writes.
 */
final class DatabaseUpgrade {
  private static final Logger LOG = LoggerFactory.getLogger(DatabaseUpgrade.class);

  private static final int DOCUMENTS_AT_ONCE = 100;

  /** Number of pages between two log lines. */
  private static final int PAGES_BETWEEN_LINES = 100;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DatabaseHandle former;
  private final RunningTask task;
  private long branches;
  private long rewritten;

  /** Number of unreadable rows and documents. */
  private long left;

  DatabaseUpgrade(
      Catalogue catalogue,
      TransactionRunner transactions,
      DatabaseHandle former,
      RunningTask task) {
    this.task = task;
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.former = former;
  }

  /**
   * Whether all of it was upgraded. Otherwise the database keeps its format and takes no writes,
   * because the unreadable rows may be of the first format.
   *
   * @throws lectus.error.LectusException {@code not_found} if the database is deleted meanwhile
   */
  boolean run() {
    LOG.info("Upgrading the database {}", former.name().text());
    note(catalogue::closeToFormerServers);
    task.outOf(documents());
    rewriteDocuments();
    if (left > 0) {
      LOG.error(
          "The database {} was not upgraded and takes no writes: {} rows or documents cannot be"
              + " read",
          former.name().text(),
          left);
      return false;
    }
    new ValidatorsListing(transactions, former, this::stillFormer).run();
    note(catalogue::becomeCurrent);
    LOG.info(
        "Upgraded the database {}: {} edit branches, of which {} documents were rewritten",
        former.name().text(),
        branches,
        rewritten);
    return true;
  }

  /** Each has an edit branch at least. */
  private long documents() {
    DatabaseCounters counts =
        transactions.read(tx -> Awaiting.await(DatabaseCounters.read(tx, former)));
    return counts.documents() + counts.deletedDocuments();
  }

  private void note(BiConsumer<Transaction, DatabaseHandle> state) {
    transactions.run(
        tx -> {
          stillFormer(tx).ifPresent(db -> state.accept(tx, db));
          return null;
        });
  }

  /**
   * Returns the database as the transaction sees it; empty if it has meanwhile been deleted,
   * resharded, or upgraded by another server. The transaction conflicts with each of these.
   */
  private Optional<DatabaseHandle> stillFormer(Transaction tx) {
    DatabaseHandle db = catalogue.current(tx, former.name());
    catalogue.guard(tx, db);
    return isFormer(db) ? Optional.of(db) : Optional.empty();
  }

  private boolean isFormer(DatabaseHandle db) {
    return db.instance().equals(former.instance()) && !db.isCurrent();
  }

  private void rewriteDocuments() {
    Range range = DatabaseSubspace.REVISIONS.range(former.prefix());
    Optional<byte[]> begin = Optional.of(range.begin);
    for (int pages = 1; begin.isPresent(); pages++) {
      byte[] from = begin.get();
      RowPage page = transactions.read(tx -> RowPage.read(tx, from, range.end));
      branches += page.rows().size();
      task.advance(page.rows().size());
      rewrite(formerDocuments(page.rows()));
      begin = page.next();
      if (pages % PAGES_BETWEEN_LINES == 0) {
        LOG.info("Upgrading the database {}: {} branches so far", former.name().text(), branches);
      }
    }
  }

  /** Returns the documents that have a row of the first format, without duplicates. */
  private List<String> formerDocuments(List<KeyValue> rows) {
    Set<String> found = new LinkedHashSet<>();
    for (KeyValue row : rows) {
      try {
        formerDocument(row).ifPresent(found::add);
      } catch (MalformedTupleException | IllegalArgumentException damaged) {
        warn(row, damaged);
        left++;
      }
    }
    return List.copyOf(found);
  }

  /** Returns the document of a row of the first format; empty for other rows. */
  private Optional<String> formerDocument(KeyValue row) {
    int prefixBytes = DatabaseSubspace.REVISIONS.key(former.prefix()).length();
    TupleReader key = new TupleReader(row.getKey(), prefixBytes);
    String id = key.string();
    return RevisionsSubspace.stored(row, key.position()).isFormer()
        ? Optional.of(id)
        : Optional.empty();
  }

  private void warn(KeyValue row, RuntimeException damaged) {
    LOG.warn(
        "A row of the database {} was not upgraded, its key is {}: {}",
        former.name().text(),
        ByteArrayUtil.printable(row.getKey()),
        damaged.getMessage());
  }

  private void rewrite(List<String> ids) {
    int done = 0;
    while (done < ids.size()) {
      List<String> next = ids.subList(done, Math.min(ids.size(), done + DOCUMENTS_AT_ONCE));
      DocumentsRewrite.Result result = transactions.run(tx -> rewrite(tx, next));
      done += result.done();
      rewritten += result.done() - result.unreadable();
      left += result.unreadable();
    }
  }

  private DocumentsRewrite.Result rewrite(Transaction tx, List<String> ids) {
    return stillFormer(tx)
        .map(db -> new DocumentsRewrite(tx, catalogue.withShards(tx, db), catalogue).run(ids))
        .orElseGet(() -> new DocumentsRewrite.Result(ids.size(), 0));
  }
}
