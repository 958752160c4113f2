package lectus.changes.notify;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.UpdatesLog;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.changes.notify.CandidateQueue.CandidateMemory;
import lectus.changes.notify.DatabaseSet.DatabasePattern;
import lectus.changes.notify.ManyDatabases.ScanLimits;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
import lectus.database.UpdatesSubspace;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Finds the databases that have something after a reader's position. From the beginning of the
 * store, these are all databases in the catalogue; from anywhere else, those in the updates log
 * after the position. If the log has more than looking up each name of the set would cost, its
 * compacted part is looked up by name.
 *
 * <p>A scan may take several transactions. It tolerates that the log is compacted, and that
 * databases are written, created and deleted meanwhile: a row is removed only once a later one
 * exists, which the scan has not reached. Only at the end does it know what comes first, because
 * only the later row may be left of a database that was written twice.
 */
final class CandidateScan {
  /** Number of reads that look up one name. */
  private static final int READS_OF_NAME = 3;

  private final DatabaseSet wanted;
  private final Catalogue catalogue;
  private final UpdatesLog log;
  private final ScanLimits limits;
  private final CatalogueListing listing;
  private final CandidateQueue candidates;

  /** The first point of the log not yet examined; null at the beginning. */
  private Versionstamp logFrom;

  /** Number of rows read of the log since it was last read to its end, or names were looked up. */
  private long rowsRead;

  /** Up to where names are being looked up; null if none are. */
  private Versionstamp lookedUpTo;

  /** The names that are still to be looked up. */
  private List<DatabaseName> names = List.of();

  /** Whether what is needed to look up the names can be read. */
  private boolean areNamesReadable = true;

  /** Whether it had reached the end when it last looked. */
  private boolean complete;

  /** Everything before this point was delivered, or is among the candidates. */
  private Versionstamp knownTo;

  CandidateScan(
      DatabaseSet wanted,
      Catalogue catalogue,
      UpdatesLog log,
      ScanLimits limits,
      CandidateMemory memory,
      StorePosition from) {
    boolean fromBeginning = from.isBeginning();
    this.wanted = wanted;
    this.catalogue = catalogue;
    this.log = log;
    this.limits = limits;
    this.listing = new CatalogueListing(wanted, catalogue, fromBeginning);
    this.candidates = new CandidateQueue(wanted, memory);
    this.logFrom = fromBeginning ? null : from.at().startOfCommit();
    this.knownTo = from.at();
  }

  /** Whether it has reached its horizon: only another scan finds what comes next. */
  boolean isOver() {
    return complete && candidates.isAtHorizon();
  }

  CandidateQueue candidates() {
    return candidates;
  }

  /**
   * Scans as far as one transaction allows. It keeps what it has found even if the transaction
   * fails.
   *
   * @return whether the candidates are complete as of the transaction's read version
   */
  boolean run(ReadTransaction tx, OpenDatabases openings, StorePosition position, PageTime time) {
    Versionstamp end = Versionstamp.upTo(Awaiting.await(tx.getReadVersion())).successor();
    if (logFrom == null) {
      logFrom = end;
      knownTo = end;
    }
    complete = false;
    if (!list(tx, openings, position.at(), time) || !scan(tx, openings, position.at(), time)) {
      return false;
    }
    logFrom = end.compareTo(logFrom) > 0 ? end : logFrom;
    knownTo = logFrom;
    rowsRead = 0;
    complete = true;
    return true;
  }

  /** Reads only as many at once as keep the candidates within twice their limit. */
  private boolean list(
      ReadTransaction tx, OpenDatabases openings, Versionstamp position, PageTime time) {
    int atOnce = Math.min(limits.listed(), limits.candidates());
    int left = limits.rows();
    while (!listing.isDone()) {
      if (left <= 0 || (left < limits.rows() && time.isUp())) {
        return false;
      }
      for (DatabaseInstance life : listing.next(tx, atOnce, time)) {
        candidates.add(Candidate.somewhere(life.name(), life.joined()));
      }
      left -= atOnce;
      if (!makeRoom(openings, position)) {
        return false;
      }
    }
    return true;
  }

  private boolean scan(
      ReadTransaction tx, OpenDatabases openings, Versionstamp position, PageTime time) {
    Optional<Versionstamp> from = Optional.of(logFrom);
    int left = limits.rows();
    while (from.isPresent()) {
      if (left <= 0 || (left < limits.rows() && time.isUp())) {
        return false;
      }
      if (isLookedUp(tx)) {
        left -= lookUp(tx, position);
        from = Optional.of(logFrom);
      } else {
        UpdatesLog.Chunk chunk = log.readShared(tx, from.get(), rowsPerBucket());
        left -= chunk.rows().size();
        rowsRead += chunk.rows().size();
        from = add(chunk, position, time);
      }
      if (!makeRoom(openings, position)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Reads no more at once than costs as much as to look up the names, but two of each bucket: after
   * one of one, it is not known whether there are more.
   */
  private int rowsPerBucket() {
    long few = mostRows() - rowsRead;
    return few > 0
        ? (int) Math.min(limits.logRows(), 2 + few / UpdatesSubspace.BUCKETS)
        : limits.logRows();
  }

  /** Returns how many rows cost no more than to look up the names. */
  private long mostRows() {
    return areNamesReadable && wanted.patterns().isEmpty()
        ? (long) READS_OF_NAME * wanted.names().size()
        : Long.MAX_VALUE;
  }

  /**
   * Whether names are looked up now: more than one transaction may be needed for all. A reader at
   * the log's end reads nothing for that: it has not read any rows then.
   */
  private boolean isLookedUp(ReadTransaction tx) {
    // A read of the log is one of each bucket at least.
    boolean isLong = rowsRead > 0 && rowsRead + UpdatesSubspace.BUCKETS >= mostRows();
    if (lookedUpTo == null && isLong) {
      Versionstamp compacted = log.compactedTo(tx);
      if (compacted.compareTo(logFrom) > 0) {
        lookedUpTo = compacted;
        names = new ArrayList<>(wanted.names());
      }
    }
    return lookedUpTo != null;
  }

  /**
   * Adds the rows of the next names that a scan would find before {@link #lookedUpTo}. By now the
   * log may be compacted further, and rows from there on are left to the scan; so are all if they
   * cannot be looked up. Returns the number of names.
   */
  private int lookUp(ReadTransaction tx, Versionstamp position) {
    List<DatabaseName> next = names.subList(0, Math.min(names.size(), limits.listed()));
    int count = next.size();
    Optional<List<DatabaseUpdate>> rows = log.ofNames(tx, catalogue, next);
    if (rows.isEmpty()) {
      areNamesReadable = false;
      lookedUpTo = null;
      names = List.of();
      return count;
    }
    for (DatabaseUpdate row : rows.get()) {
      if (row.at().compareTo(logFrom) >= 0 && row.at().compareTo(lookedUpTo) < 0) {
        candidates.add(row, knownTo, position);
      }
    }
    next.clear();
    if (names.isEmpty()) {
      logFrom = lookedUpTo;
      lookedUpTo = null;
      rowsRead = 0;
    }
    return count;
  }

  /**
   * Returns where to continue; empty at the log's end. A row may be compared with many patterns.
   */
  private Optional<Versionstamp> add(UpdatesLog.Chunk chunk, Versionstamp position, PageTime time) {
    for (DatabaseUpdate row : chunk.rows()) {
      candidates.add(row, knownTo, position);
      logFrom = row.at().successor();
      if (time.isUp()) {
        return Optional.of(logFrom);
      }
    }
    return chunk.next();
  }

  /**
   * Drops the last candidates if there are too many. To know which are last, it first looks up the
   * unknown beginnings. Returns false if that takes another transaction.
   */
  private boolean makeRoom(OpenDatabases openings, Versionstamp position) {
    if (!candidates.areTooMany(limits.candidates())) {
      return true;
    }
    while (isFirstUnknown(position)) {
      if (!openings.lookUp(candidates)) {
        return false;
      }
    }
    if (candidates.areTooMany(limits.candidates())) {
      candidates.keepFirst(Math.min(limits.candidates(), candidates.size()) / 2);
    }
    return true;
  }

  private boolean isFirstUnknown(Versionstamp position) {
    Candidate first = candidates.peek();
    return first != null
        && first.kind() == Candidate.Kind.SOMEWHERE
        && first.atLeast().compareTo(position) <= 0;
  }

  /** Lists the existing databases of a set, a part in each transaction. */
  private static final class CatalogueListing {
    private final DatabaseSet wanted;
    private final Catalogue catalogue;

    /** The names not listed yet. */
    private final List<DatabaseName> names;

    private final List<DatabasePattern> patterns;

    /** How far the first pattern has been listed. */
    private Optional<DatabaseName> listed = Optional.empty();

    CatalogueListing(DatabaseSet wanted, Catalogue catalogue, boolean hasAny) {
      this.wanted = wanted;
      this.catalogue = catalogue;
      this.names = new ArrayList<>(hasAny ? wanted.names() : Set.of());
      this.patterns = new ArrayList<>(hasAny ? wanted.patterns() : Set.of());
    }

    boolean isDone() {
      return names.isEmpty() && patterns.isEmpty();
    }

    /**
     * Returns the next databases. One that several names or patterns match may come twice.
     *
     * @param time when it is up, the next transaction examines the remaining rows
     */
    List<DatabaseInstance> next(ReadTransaction tx, int limit, PageTime time) {
      return names.isEmpty() ? nextMatching(tx, limit, time) : nextNamed(tx, limit);
    }

    private List<DatabaseInstance> nextNamed(ReadTransaction tx, int limit) {
      List<DatabaseName> next = names.subList(0, Math.min(names.size(), limit));
      List<CompletableFuture<Optional<DatabaseInstance>>> reading = new ArrayList<>(next.size());
      next.forEach(name -> reading.add(catalogue.life(tx, name)));
      List<DatabaseInstance> lives =
          reading.stream().flatMap(life -> Awaiting.await(life).stream()).toList();
      next.clear();
      return lives;
    }

    private List<DatabaseInstance> nextMatching(ReadTransaction tx, int limit, PageTime time) {
      List<DatabaseInstance> lives = catalogue.lives(tx, patterns.get(0).head(), listed, limit);
      List<DatabaseInstance> matching = new ArrayList<>();
      for (DatabaseInstance life : lives) {
        if (wanted.contains(life.name())) {
          matching.add(life);
        }
        listed = Optional.of(life.name());
        if (time.isUp()) {
          return matching;
        }
      }
      if (lives.size() < limit) {
        patterns.remove(0);
        listed = Optional.empty();
      }
      return matching;
    }
  }
}
