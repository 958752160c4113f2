package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseLife;
import lectus.database.DatabaseUpdate;
import lectus.feed.PageTime;
import lectus.feed.updates.StorePosition;
import lectus.store.Reads;
import lectus.store.Versionstamp;
import lectus.updates.UpdatesLog;

/**
 * Finds the databases that have something behind a reader's position. From the beginning of the
 * store these are all that the catalogue has; from anywhere else those in the updates log behind
 * the position.
 *
 * <p>It may take several transactions. That the log is compacted, and databases are written,
 * created and deleted meanwhile, does no harm: a row is only removed once another one lies further
 * on, where the scan has not been. Only when it has come to the end does it know what comes first:
 * of a database that was written twice, only the later row may be left.
 */
final class CandidateScan {
  private final UpdatesLog log;
  private final ScanLimits limits;
  private final CatalogueListing listing;
  private final Candidates candidates;

  /** The first point of the log not looked at; null as long as nothing was looked at. */
  private Versionstamp logFrom;

  /** Whether it had come to the end when it last looked. */
  private boolean complete;

  /** What came before this point is told, or is among the candidates. */
  private Versionstamp knownTo;

  CandidateScan(
      DatabaseSet wanted,
      Catalogue catalogue,
      UpdatesLog log,
      ScanLimits limits,
      CandidateMemory memory,
      StorePosition from) {
    boolean fromBeginning = from.equals(StorePosition.BEGINNING);
    this.log = log;
    this.limits = limits;
    this.listing =
        fromBeginning
            ? CatalogueListing.of(wanted, catalogue)
            : CatalogueListing.none(wanted, catalogue);
    this.candidates = new Candidates(wanted, memory);
    this.logFrom = fromBeginning ? null : from.at().startOfCommit();
    this.knownTo = from.at();
  }

  /** Whether it has come to its horizon: behind that only another scan finds what comes next. */
  boolean isOver() {
    return complete && candidates.isAtHorizon();
  }

  Candidates candidates() {
    return candidates;
  }

  /**
   * Looks on, as far as one transaction goes. What it has found it keeps even if the transaction
   * fails then.
   *
   * @param position how far the reader has come
   * @return whether the candidates are complete as of the transaction's read version
   */
  boolean run(ReadTransaction tx, Openings openings, StorePosition position, PageTime time) {
    Versionstamp end = Versionstamp.upTo(Reads.await(tx.getReadVersion())).successor();
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
    complete = true;
    return true;
  }

  /** Reads no more at once than leaves the candidates within twice what is kept of them. */
  private boolean list(
      ReadTransaction tx, Openings openings, Versionstamp position, PageTime time) {
    int atOnce = Math.min(limits.listed(), limits.candidates());
    int left = limits.rows();
    while (!listing.isDone()) {
      if (left <= 0 || left < limits.rows() && time.isUp()) {
        return false;
      }
      for (DatabaseLife life : listing.next(tx, atOnce, time)) {
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
      ReadTransaction tx, Openings openings, Versionstamp position, PageTime time) {
    Optional<Versionstamp> from = Optional.of(logFrom);
    int left = limits.rows();
    while (from.isPresent()) {
      if (left <= 0 || left < limits.rows() && time.isUp()) {
        return false;
      }
      UpdatesLog.Chunk chunk = log.read(tx, from.get(), limits.logRows());
      left -= chunk.rows().size();
      from = add(chunk, position, time);
      if (!makeRoom(openings, position)) {
        return false;
      }
    }
    return true;
  }

  /** Where to go on; empty at the log's end. A row may be compared with many patterns. */
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
   * Forgets candidates if there are too many: those that come last. To know which these are it
   * looks up where each begins of which nothing is known. False if that takes another transaction.
   */
  private boolean makeRoom(Openings openings, Versionstamp position) {
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
}
