package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.UserContext;
import lectus.document.edit.PurgeEdit;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.MalformedTupleException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * Purges documents that have been deleted for longer than their databases keep tombstones. Each
 * purge looks at its document again, so a document that was written meanwhile stays, and two
 * servers that sweep at once do no harm. Also forgets images that do not come back. Used by one
 * thread.
 */
public final class TombstoneSweep implements LeasedSteps {
  /** The name of its lease. */
  public static final String TASK = "auto-purge";

  /** Documents between two renewals of the lease. */
  private static final int AT_ONCE = 100;

  private final Catalogue catalogue;
  private final DocumentWriter writer;
  private final TransactionRunner transactions;
  private final TimesSubspace times;
  private final InstantSource clock;
  private final LeasedRounds rounds;
  private final SweepMetrics figures;
  private final Deque<DatabaseName> names = new ArrayDeque<>();
  private Optional<NameRange> range = Optional.empty();

  /**
   * @param figures where it counts what it has to leave
   */
  public TombstoneSweep(
      Store store, Catalogue catalogue, DocumentWriter writer, SweepMetrics figures) {
    this(store, catalogue, writer, figures, InstantSource.system(), new LeasedRounds(store, TASK));
  }

  /** A sweep whose rounds follow each other without a pause. */
  TombstoneSweep(Store store, Catalogue catalogue, DocumentWriter writer, InstantSource clock) {
    this(store, catalogue, writer, new SweepMetrics(), clock);
  }

  /** A sweep whose rounds follow each other without a pause. */
  TombstoneSweep(
      Store store,
      Catalogue catalogue,
      DocumentWriter writer,
      SweepMetrics figures,
      InstantSource clock) {
    this(store, catalogue, writer, figures, clock, LeasedRounds.withoutPause(store, TASK));
  }

  /**
   * @param figures where it counts what it has to leave
   * @param rounds when it sweeps
   */
  public TombstoneSweep(
      Store store,
      Catalogue catalogue,
      DocumentWriter writer,
      SweepMetrics figures,
      InstantSource clock,
      LeasedRounds rounds) {
    this.figures = figures;
    this.catalogue = catalogue;
    this.writer = writer;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.times = new TimesSubspace(store.rootPrefix());
    this.clock = clock;
    this.rounds = rounds;
  }

  /** Sweeps a piece of a database, or looks which ones there are. */
  @Override
  public boolean step() {
    return rounds.step(this::note, this::piece);
  }

  private boolean piece(boolean isFirst) {
    if (isFirst) {
      names.clear();
      range = Optional.empty();
    }
    if (names.isEmpty()) {
      NameRange.Page page = catalogue.names(range.orElse(NameRange.ALL));
      names.addAll(page.names());
      range = page.next();
    }
    if (!names.isEmpty() && !sweepIfReadable(names.element())) {
      names.remove();
    }
    return !names.isEmpty() || range.isPresent();
  }

  /** A round begins with the time, for later rounds. */
  private void note(Transaction tx) {
    times.note(tx, clock.instant().getEpochSecond());
  }

  /** A search of one database at one version. */
  private record Searched(DatabaseHandle db, TombstoneSearch.Found found) {}

  /** A damaged database keeps no other one waiting. */
  private boolean sweepIfReadable(DatabaseName name) {
    try {
      boolean goesOn = sweep(name);
      figures.unreadable.remove(name);
      return goesOn;
    } catch (MalformedTupleException damaged) {
      figures.unreadable(name, damaged);
      return false;
    }
  }

  /** Returns whether there is more in this database. */
  private boolean sweep(DatabaseName name) {
    try {
      forgetImages(name);
      Optional<Searched> searched = transactions.read(tx -> search(tx, name));
      if (searched.isEmpty()) {
        return false;
      }
      TombstoneSearch.Found found = searched.get().found();
      if (!purge(name, found)) {
        return false;
      }
      transactions.runIdempotent(tx -> advance(tx, searched.get()));
      return !found.isLast();
    } catch (LectusException gone) {
      if (gone.error() instanceof LectusError.NotFound) {
        return false;
      }
      throw gone;
    }
  }

  /** Images that do not come back are forgotten where nothing is purged, too. */
  private void forgetImages(DatabaseName name) {
    boolean mayForget =
        transactions.read(
            tx -> {
              DatabaseHandle db = catalogue.current(tx, name);
              return db.takesWrites() && !new GoneSubspace(db).images(tx).isEmpty();
            });
    if (mayForget) {
      transactions.writeIdempotent(
          tx -> {
            TransactionRunner.freesSpace(tx);
            new GoneSubspace(catalogue.currentForWrites(tx, name)).bound(tx);
          });
    }
  }

  private Optional<Searched> search(ReadTransaction tx, DatabaseName name) {
    DatabaseHandle db = catalogue.current(tx, name);
    if (!db.takesWrites()) {
      return Optional.empty();
    }
    AutoPurgeSubspace settings = new AutoPurgeSubspace(db);
    OptionalLong kept =
        Awaiting.await(settings.timeToLive(tx))
            .map(TimeToLive::seconds)
            .orElse(OptionalLong.empty());
    if (kept.isEmpty()) {
      return Optional.empty();
    }
    OptionalLong version =
        times.versionAt(tx, Math.max(0, clock.instant().getEpochSecond() - kept.getAsLong()));
    Optional<Sequence> after = Awaiting.await(settings.searched(tx));
    // What a database came with is as old here as the database is.
    Versionstamp begun = db.incarnations().current().begun();
    return version.stream()
        .mapToObj(Versionstamp::upTo)
        .filter(it -> it.compareTo(begun) >= 0)
        .map(it -> new Sequence(db.incarnation(), it.bytes()))
        .filter(until -> after.isEmpty() || after.get().compareTo(until) < 0)
        .findFirst()
        .map(until -> new Searched(db, new TombstoneSearch(db).find(tx, after, until)));
  }

  /** Returns whether the search may go on behind them. */
  private boolean purge(DatabaseName name, TombstoneSearch.Found found) {
    List<EditOutcome.Failed> failed = new ArrayList<>();
    for (int i = 0; i < found.ids().size(); i += AT_ONCE) {
      if (i > 0 && !rounds.goesOn()) {
        return false;
      }
      int to = Math.min(found.ids().size(), i + AT_ONCE);
      failed.addAll(failures(name, edits(found.ids().subList(i, to), found.to())));
    }
    boolean goesOn = failed.stream().noneMatch(TombstoneSweep::mayPass);
    if (goesOn) {
      failed.forEach(it -> figures.left(name, it.id(), it.error()));
    }
    return goesOn;
  }

  private static List<PurgeEdit> edits(List<String> ids, Sequence by) {
    List<PurgeEdit> edits = new ArrayList<>(ids.size());
    for (String id : ids) {
      edits.add(new PurgeEdit(id, branches -> expired(branches, by)).by(UserContext.SERVER));
    }
    return edits;
  }

  private List<EditOutcome.Failed> failures(DatabaseName name, List<PurgeEdit> edits) {
    return writer.write(name, edits).outcomes().stream()
        .filter(EditOutcome.Failed.class::isInstance)
        .map(EditOutcome.Failed.class::cast)
        .toList();
  }

  /** A document that cannot be purged is left, so that it does not keep others. */
  private static boolean mayPass(EditOutcome.Failed failed) {
    return failed.error() instanceof LectusError.Unavailable
        || failed.error() instanceof LectusError.InDoubt;
  }

  /**
   * Returns all branches of a document that was deleted by then, and the losing ones first if they
   * are too many for one purge: what is left has a new place in the changes, and waits again.
   */
  private static List<EditBranch> expired(List<EditBranch> branches, Sequence by) {
    boolean isExpired =
        !branches.isEmpty()
            && branches.get(0).deleted()
            && branches.get(0).winner().sequence().compareTo(by) <= 0;
    if (!isExpired) {
      return List.of();
    }
    int from = 0;
    while (PurgesSubspace.sizeOf(leaves(branches, from)) > PurgesSubspace.MAX_BYTES) {
      from = (from + branches.size() + 1) / 2;
    }
    return branches.subList(from, branches.size());
  }

  private static List<RevisionId> leaves(List<EditBranch> branches, int from) {
    return branches.subList(from, branches.size()).stream().map(EditBranch::leaf).toList();
  }

  private Void advance(Transaction tx, Searched searched) {
    DatabaseHandle db = catalogue.currentForUpkeep(tx, searched.db().name());
    if (rounds.holds(tx) && db.instance().equals(searched.db().instance())) {
      new AutoPurgeSubspace(db).setSearched(tx, searched.found().to());
    }
    return null;
  }

  @Override
  public void giveBack() {
    rounds.giveBack();
  }

  /** Finds tombstones among the oldest changes of one database, in all shards together. */
  private static final class TombstoneSearch {
    /** Changes of one transaction. */
    private static final int ROWS = 1_000;

    private final DatabaseHandle db;

    TombstoneSearch(DatabaseHandle db) {
      this.db = db;
    }

    /**
     * @param ids of documents whose winner was a tombstone
     * @param to up to where there are no others
     * @param isLast whether that is all
     */
    record Found(List<String> ids, Sequence to, boolean isLast) {}

    Found find(ReadTransaction tx, Optional<Sequence> after, Sequence until) {
      List<ShardId> shards =
          db.topology().from(after).stream().flatMap(it -> it.shards().stream()).toList();
      int each = Math.max(1, ROWS / shards.size());
      ChangesSubspace changes = new ChangesSubspace(db);
      List<CompletableFuture<List<ChangeEntry>>> reading = new ArrayList<>(shards.size());
      EntryRange some = new EntryRange(after, Optional.of(until), each, false);
      for (ShardId shard : shards) {
        reading.add(changes.read(tx.snapshot(), shard, some));
      }
      List<List<ChangeEntry>> read = reading.stream().map(Awaiting::await).toList();
      // Where a shard has more, nothing is known behind the last one read.
      Optional<Sequence> end =
          read.stream()
              .filter(rows -> rows.size() == each)
              .map(rows -> rows.get(each - 1).sequence())
              .min(Sequence::compareTo);
      Sequence to = end.orElse(until);
      List<String> ids =
          read.stream()
              .flatMap(List::stream)
              .filter(entry -> entry.deleted() && entry.sequence().compareTo(to) <= 0)
              .map(ChangeEntry::docId)
              .toList();
      return new Found(ids, to, end.isEmpty());
    }
  }
}
