package lectus.attachment;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import lectus.attachment.UploadsSubspace.UploadId;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.RelocationsSubspace;
import lectus.database.RestoresSubspace;
import lectus.database.RestoresSubspace.Restore;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.Found;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.LeasedRounds.Piece;
import lectus.store.RowPage;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Sweeps one database after the other. Only the server that holds the lease does; another one takes
 * over when it dies. Used by one thread.
 */
public final class StoreSweep implements LeasedSteps {
  static final String TASK = "attachments-sweep";

  /** For how long a content waits for its document, or a broken upload to go on: an hour. */
  public static final long GRACE_VERSIONS = 3_600L * 1_000_000;

  /**
   * A minute, while the disk is short of space. An upload whose document takes longer has to be
   * sent again then, and whoever still reads a replaced content loses the rest.
   */
  static final long SHORT_GRACE_VERSIONS = 60_000_000;

  private static final int DATABASES_AT_ONCE = 100;

  private final Store store;
  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final LeasedRounds rounds;
  private final long graceVersions;
  private final int databasesAtOnce;
  private final Piece databases = LeasedRounds.each(this::look, this::sweep);

  public StoreSweep(Store store, Catalogue catalogue) {
    this(store, catalogue, new LeasedRounds(store, TASK), GRACE_VERSIONS, DATABASES_AT_ONCE);
  }

  /** A sweep whose rounds follow each other without a pause. */
  StoreSweep(Store store, Catalogue catalogue, long graceVersions, int databasesAtOnce) {
    this(store, catalogue, LeasedRounds.withoutPause(store, TASK), graceVersions, databasesAtOnce);
  }

  private StoreSweep(
      Store store,
      Catalogue catalogue,
      LeasedRounds rounds,
      long graceVersions,
      int databasesAtOnce) {
    this.store = store;
    this.catalogue = catalogue;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.rounds = rounds;
    this.graceVersions = graceVersions;
    this.databasesAtOnce = databasesAtOnce;
  }

  /**
   * Looks at the next databases, or sweeps one of those in which there may be something to sweep.
   *
   * @return false after the last one, or if another server sweeps
   */
  @Override
  public boolean step() {
    return rounds.step(tx -> {}, this::piece);
  }

  private boolean piece(boolean isFirst) {
    if (isFirst) {
      // If that fails, the next piece goes on with the databases.
      removeRestores();
      forgetArrivals();
    }
    return databases.run(isFirst);
  }

  /** Removes what restores have left that ended without an answer. */
  private void removeRestores() {
    RestoresSubspace restores = new RestoresSubspace(store.rootPrefix());
    List<Restore> all = transactions.read(tx -> Awaiting.await(restores.all(tx)));
    for (Restore restore : all) {
      transactions.writeIdempotent(
          tx -> {
            InstanceId instance = restore.life().instance();
            long now = Awaiting.await(tx.getReadVersion());
            OptionalLong renewed = Awaiting.await(restores.renewedAt(tx, instance));
            if (renewed.isPresent() && now - renewed.getAsLong() > graceVersions) {
              catalogue.removePrepared(tx, restore.life());
              restores.clear(tx, instance);
            }
          });
    }
  }

  private void forgetArrivals() {
    RelocationsSubspace relocations = new RelocationsSubspace(store.rootPrefix());
    Optional<byte[]> next = Optional.empty();
    do {
      Optional<byte[]> from = next;
      next =
          transactions.runIdempotent(
              tx -> relocations.sweep(tx, RelocationsSubspace.REMEMBERED_VERSIONS, from));
    } while (next.isPresent());
  }

  /**
   * Returns those of the next databases in which there may be something to sweep: most have
   * nothing, and are not opened for that.
   */
  private Found<DatabaseName, DatabaseName> look(Optional<DatabaseName> last) {
    return transactions.read(
        tx -> {
          List<DatabaseInstance> lives = catalogue.lives(tx, "", last, databasesAtOnce);
          List<CompletableFuture<Boolean>> any =
              lives.stream().map(life -> mayBeSwept(tx, life.prefix())).toList();
          List<DatabaseName> names = new ArrayList<>();
          for (int i = 0; i < lives.size(); i++) {
            if (Awaiting.await(any.get(i))) {
              names.add(lives.get(i).name());
            }
          }
          return new Found<>(
              names,
              lives.size() == databasesAtOnce
                  ? Optional.of(lives.get(lives.size() - 1).name())
                  : Optional.empty());
        });
  }

  private static CompletableFuture<Boolean> mayBeSwept(ReadTransaction tx, byte[] prefix) {
    CompletableFuture<Boolean> uploads = any(tx, new UploadsSubspace(prefix).range());
    return any(tx, new UnusedSubspace(prefix).range())
        .thenCombine(uploads, (unused, begun) -> unused || begun);
  }

  private static CompletableFuture<Boolean> any(ReadTransaction tx, Range range) {
    return tx.snapshot().getRange(range, 1).asList().thenApply(rows -> !rows.isEmpty());
  }

  private void sweep(DatabaseName name) {
    try {
      DatabaseHandle db = catalogue.open(name);
      new ContentSweep(db).run();
    } catch (LectusException gone) {
      if (!(gone.error() instanceof LectusError.NotFound)) {
        throw gone;
      }
    }
  }

  @Override
  public void giveBack() {
    rounds.giveBack();
  }

  /**
   * Removes, from one life of a database, contents that no document refers to and what broken
   * uploads left, once they have been so for a while. Each transaction removes a bounded number of
   * them; clearing a content is two keys and a range, however long it is.
   */
  private final class ContentSweep {
    /** Contents and uploads of one transaction. */
    private static final int AT_ONCE = 100;

    private final long unusedGraceVersions;
    private final DatabaseHandle db;
    private final ContentsSubspace contents;
    private final ChunksSubspace chunks;
    private final ReferencesSubspace references;
    private final UnusedSubspace unused;
    private final UploadsSubspace uploads;

    ContentSweep(DatabaseHandle db) {
      this.unusedGraceVersions =
          store.isShortOfSpace() ? Math.min(graceVersions, SHORT_GRACE_VERSIONS) : graceVersions;
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

    /** Returns whether it came to the end of the range. */
    private boolean sweep(
        Range range,
        ToLongFunction<byte[]> since,
        long grace,
        BiConsumer<Transaction, byte[]> removal) {
      Optional<byte[]> from = Optional.of(range.begin);
      do {
        byte[] begin = from.get();
        Found<byte[], byte[]> found =
            transactions.read(tx -> find(tx, begin, range.end, since, grace));
        List<byte[]> keys = found.things();
        for (int i = 0; i < keys.size(); i += AT_ONCE) {
          removeAll(keys.subList(i, Math.min(keys.size(), i + AT_ONCE)), removal);
        }
        from = found.next();
      } while (from.isPresent() && rounds.goesOn());
      return from.isEmpty();
    }

    private Found<byte[], byte[]> find(
        ReadTransaction tx, byte[] begin, byte[] end, ToLongFunction<byte[]> since, long grace) {
      RowPage page = RowPage.read(tx, begin, end);
      long now = Awaiting.await(tx.getReadVersion());
      List<byte[]> keys = new ArrayList<>();
      for (KeyValue row : page.rows()) {
        if (now - since.applyAsLong(row.getValue()) > grace) {
          keys.add(row.getKey());
        }
      }
      return new Found<>(keys, page.next());
    }

    /** If it is stored twice, the second run finds nothing left. */
    private void removeAll(List<byte[]> keys, BiConsumer<Transaction, byte[]> removal) {
      transactions.writeIdempotent(
          tx -> {
            if (rounds.holds(tx)) {
              requireSameLife(tx);
              keys.forEach(key -> removal.accept(tx, key));
            }
          });
    }

    private void requireSameLife(Transaction tx) {
      if (!catalogue.currentForUpkeep(tx, db.name()).instance().equals(db.instance())) {
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

    private boolean isOver(Transaction tx, OptionalLong since, long grace) {
      return since.isPresent() && Awaiting.await(tx.getReadVersion()) - since.getAsLong() > grace;
    }
  }
}
