package lectus.document.purge;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.access.UserContext;
import lectus.changes.PurgesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.NamePage;
import lectus.database.NameRange;
import lectus.database.Sequence;
import lectus.document.edit.PurgeEdit;
import lectus.document.write.DocumentWriter;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.tuple.MalformedTupleException;

/**
 * Purges documents that have been deleted for longer than their databases keep tombstones. Each
 * purge looks at its document again, so a document that was written meanwhile stays, and two
 * servers that sweep at once do no harm. Used by one thread.
 */
public final class TombstoneSweep implements LeasedSteps {
  static final String TASK = "auto-purge";

  /** Two minutes: longer than a step takes. */
  private static final long LEASE_VERSIONS = 120_000_000;

  /** Shorter than an orderly shutdown may take. */
  private static final TransactionLimits AT_THE_END =
      new TransactionLimits(5, Duration.ofSeconds(2));

  private final Catalogue catalogue;
  private final DocumentWriter writer;
  private final TransactionRunner transactions;
  private final TransactionRunner atTheEnd;
  private final TimesSubspace times;
  private final InstantSource clock;
  private final Lease lease;
  private final SweepFigures figures;
  private final Deque<DatabaseName> names = new ArrayDeque<>();
  private Optional<NameRange> range = Optional.empty();

  public TombstoneSweep(Store store, Catalogue catalogue, DocumentWriter writer) {
    this(store, catalogue, writer, new SweepFigures());
  }

  /**
   * @param figures where it counts what it has to leave
   */
  public TombstoneSweep(
      Store store, Catalogue catalogue, DocumentWriter writer, SweepFigures figures) {
    this(store, catalogue, writer, figures, InstantSource.system());
  }

  TombstoneSweep(Store store, Catalogue catalogue, DocumentWriter writer, InstantSource clock) {
    this(store, catalogue, writer, new SweepFigures(), clock);
  }

  TombstoneSweep(
      Store store,
      Catalogue catalogue,
      DocumentWriter writer,
      SweepFigures figures,
      InstantSource clock) {
    this.figures = figures;
    this.catalogue = catalogue;
    this.writer = writer;
    this.transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    this.atTheEnd = new TransactionRunner(store, AT_THE_END);
    this.times = new TimesSubspace(store.rootPrefix());
    this.clock = clock;
    this.lease = new Lease(store.rootPrefix(), TASK, LEASE_VERSIONS);
  }

  /** Sweeps a piece of a database, or looks which ones there are. */
  @Override
  public boolean step() {
    if (!holds(names.isEmpty() && range.isEmpty())) {
      names.clear();
      range = Optional.empty();
      return false;
    }
    if (names.isEmpty()) {
      NamePage page = catalogue.names(range.orElse(NameRange.ALL));
      names.addAll(page.names());
      range = page.next();
    }
    if (!names.isEmpty() && !sweepIfReadable(names.element())) {
      names.remove();
    }
    return !names.isEmpty() || range.isPresent();
  }

  /**
   * @param isNewRound a round begins with the time, for later rounds
   */
  private boolean holds(boolean isNewRound) {
    return transactions.runIdempotent(
        tx -> {
          if (lease.isTaken(tx)) {
            return false;
          }
          lease.hold(tx);
          if (isNewRound) {
            times.note(tx, clock.instant().getEpochSecond());
          }
          return true;
        });
  }

  /** A search of one database at one version. */
  private record Searched(DatabaseHandle db, TombstoneSearch.Found found) {}

  /** A damaged database keeps no other one waiting. */
  private boolean sweepIfReadable(DatabaseName name) {
    try {
      boolean goesOn = sweep(name);
      figures.readable(name);
      return goesOn;
    } catch (MalformedTupleException damaged) {
      figures.unreadable(name, damaged);
      return false;
    }
  }

  /** Returns whether there is more in this database. */
  private boolean sweep(DatabaseName name) {
    try {
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

  private Optional<Searched> search(ReadTransaction tx, DatabaseName name) {
    DatabaseHandle db = catalogue.current(tx, name);
    if (!db.isCurrent()) {
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
    return version.stream()
        .mapToObj(it -> new Sequence(db.incarnation(), Versionstamp.upTo(it).bytes()))
        .filter(until -> after.isEmpty() || after.get().compareTo(until) < 0)
        .findFirst()
        .map(until -> new Searched(db, new TombstoneSearch(db).find(tx, after, until)));
  }

  /** Returns whether the search may go on behind them. */
  private boolean purge(DatabaseName name, TombstoneSearch.Found found) {
    List<PurgeEdit> edits = new ArrayList<>(found.ids().size());
    for (String id : found.ids()) {
      edits.add(
          new PurgeEdit(id, branches -> expired(branches, found.to())).by(UserContext.SERVER));
    }
    List<EditOutcome.Failed> failed = failures(name, edits);
    boolean goesOn = failed.stream().noneMatch(TombstoneSweep::mayPass);
    if (goesOn) {
      failed.forEach(it -> figures.left(name, it.id(), it.error()));
    }
    return goesOn;
  }

  private List<EditOutcome.Failed> failures(DatabaseName name, List<PurgeEdit> edits) {
    return edits.isEmpty()
        ? List.of()
        : writer.write(name, edits).outcomes().stream()
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
    while (PurgesSubspace.sizeOf(leaves(branches, from)) > PurgesSubspace.MOST_BYTES) {
      from = (from + branches.size() + 1) / 2;
    }
    return branches.subList(from, branches.size());
  }

  private static List<RevisionId> leaves(List<EditBranch> branches, int from) {
    return branches.subList(from, branches.size()).stream().map(EditBranch::leaf).toList();
  }

  private Void advance(Transaction tx, Searched searched) {
    DatabaseHandle db = catalogue.currentForWrites(tx, searched.db().name());
    if (!lease.isTaken(tx) && db.instance().equals(searched.db().instance())) {
      lease.hold(tx);
      new AutoPurgeSubspace(db).setSearched(tx, searched.found().to());
    }
    return null;
  }

  @Override
  public void giveBack() {
    atTheEnd.runIdempotent(
        tx -> {
          lease.giveBack(tx);
          return null;
        });
  }
}
