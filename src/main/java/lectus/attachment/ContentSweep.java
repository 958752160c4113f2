package lectus.attachment;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.RowPage;
import lectus.store.TransactionRunner;

/**
 * Removes, from one life of a database, contents that no document refers to and what broken uploads
 * left, once they have been so for a while. Each transaction removes a bounded number of them;
 * clearing a content is two keys and a range, however long it is.
 */
final class ContentSweep {
  /** Contents and uploads of one transaction. */
  private static final int AT_ONCE = 100;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final LeasedRounds rounds;
  private final long graceVersions;
  private final long unusedGraceVersions;
  private final DatabaseHandle db;
  private final ContentsSubspace contents;
  private final ChunksSubspace chunks;
  private final ReferencesSubspace references;
  private final UnusedSubspace unused;
  private final UploadsSubspace uploads;

  /**
   * @param graceVersions for how many of the store's versions, about a million a second, something
   *     has to be left by its upload
   * @param unusedGraceVersions the same for contents that no document refers to
   */
  ContentSweep(
      Catalogue catalogue,
      TransactionRunner transactions,
      LeasedRounds rounds,
      long graceVersions,
      long unusedGraceVersions,
      DatabaseHandle db) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.rounds = rounds;
    this.graceVersions = graceVersions;
    this.unusedGraceVersions = unusedGraceVersions;
    this.db = db;
    this.contents = new ContentsSubspace(db.prefix());
    this.chunks = new ChunksSubspace(db.prefix());
    this.references = new ReferencesSubspace(db.prefix());
    this.unused = new UnusedSubspace(db.prefix());
    this.uploads = new UploadsSubspace(db.prefix());
  }

  /**
   * Removes nothing while another server has the lease, which each removal and each further page
   * renews.
   *
   * @throws LectusException {@code not_found} if the database is gone
   */
  void run() {
    boolean goesOn =
        sweep(unused.range(), UnusedSubspace::since, unusedGraceVersions, this::content);
    if (goesOn) {
      sweep(uploads.range(), UploadsSubspace::since, graceVersions, this::upload);
    }
  }

  private record Found(List<byte[]> keys, Optional<byte[]> next) {}

  /** Returns whether it came to the end of the range. */
  private boolean sweep(
      Range range,
      ToLongFunction<byte[]> since,
      long grace,
      BiConsumer<Transaction, byte[]> removal) {
    Optional<byte[]> from = Optional.of(range.begin);
    do {
      byte[] begin = from.get();
      Found found = transactions.read(tx -> find(tx, begin, range.end, since, grace));
      for (int i = 0; i < found.keys().size(); i += AT_ONCE) {
        int to = Math.min(found.keys().size(), i + AT_ONCE);
        removeAll(found.keys().subList(i, to), removal);
      }
      from = found.next();
    } while (from.isPresent() && rounds.goesOn());
    return from.isEmpty();
  }

  private static Found find(
      ReadTransaction tx, byte[] begin, byte[] end, ToLongFunction<byte[]> since, long grace) {
    RowPage page = RowPage.read(tx, begin, end);
    long now = Awaiting.await(tx.getReadVersion());
    List<byte[]> keys = new ArrayList<>();
    for (KeyValue row : page.rows()) {
      if (now - since.applyAsLong(row.getValue()) > grace) {
        keys.add(row.getKey());
      }
    }
    return new Found(keys, page.next());
  }

  /** If it is stored twice, the second run finds nothing left. */
  private void removeAll(List<byte[]> keys, BiConsumer<Transaction, byte[]> removal) {
    transactions.runIdempotent(
        tx -> {
          if (rounds.holds(tx)) {
            requireSameLife(tx);
            keys.forEach(key -> removal.accept(tx, key));
          }
          return null;
        });
  }

  private void requireSameLife(Transaction tx) {
    if (!catalogue.currentForWrites(tx, db.name()).instance().equals(db.instance())) {
      throw LectusException.notFound("Database does not exist.");
    }
  }

  private void content(Transaction tx, byte[] key) {
    ContentId id = unused.contentOf(key);
    if (!isOver(tx, Awaiting.await(unused.since(tx, id)), unusedGraceVersions)) {
      return;
    }
    unused.clear(tx, id);
    if (Awaiting.await(references.any(tx, id))) {
      return;
    }
    Awaiting.await(contents.get(tx, id)).ifPresent(it -> chunks.clear(tx, it.upload()));
    contents.clear(tx, id);
  }

  private void upload(Transaction tx, byte[] key) {
    UploadId upload = uploads.uploadOf(key);
    if (isOver(tx, Awaiting.await(uploads.since(tx, upload)), graceVersions)) {
      uploads.clear(tx, upload);
      chunks.clear(tx, upload);
    }
  }

  private static boolean isOver(Transaction tx, OptionalLong since, long grace) {
    return since.isPresent() && Awaiting.await(tx.getReadVersion()) - since.getAsLong() > grace;
  }
}
