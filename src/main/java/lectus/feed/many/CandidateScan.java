package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseLife;
import lectus.database.DatabaseUpdate;
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
 * on, where the scan has not been. Only when it has come to the end does it know what comes first,
 * because of a database written before and after there is only the later row.
 */
final class CandidateScan {
  private final UpdatesLog log;
  private final InstanceNames seen;
  private final ScanLimits limits;
  private final CatalogueListing listing;
  private final Candidates candidates;

  /** The first point of the log not looked at; null as long as nothing was looked at. */
  private Versionstamp logFrom;

  /** What came before this point is told, or is among the candidates. */
  private Versionstamp knownTo;

  CandidateScan(
      DatabaseSet wanted,
      Catalogue catalogue,
      UpdatesLog log,
      InstanceNames seen,
      ScanLimits limits,
      StorePosition from) {
    boolean fromBeginning = from.equals(StorePosition.BEGINNING);
    this.log = log;
    this.seen = seen;
    this.limits = limits;
    this.listing =
        fromBeginning
            ? CatalogueListing.of(wanted, catalogue)
            : CatalogueListing.none(wanted, catalogue);
    this.candidates = new Candidates(wanted);
    this.logFrom = fromBeginning ? null : from.at().startOfCommit();
    this.knownTo = from.at();
  }

  private CandidateScan(CandidateScan other) {
    this.log = other.log;
    this.seen = other.seen;
    this.limits = other.limits;
    this.listing = other.listing.copy();
    this.candidates = new Candidates(other.candidates);
    this.logFrom = other.logFrom;
    this.knownTo = other.knownTo;
  }

  /** The same, to go on with on its own. */
  CandidateScan copy() {
    return new CandidateScan(this);
  }

  Candidates candidates() {
    return candidates;
  }

  /**
   * Looks on, as far as one transaction goes.
   *
   * @param position how far the reader has come
   * @return whether the candidates are complete as of the transaction's read version
   */
  boolean run(ReadTransaction tx, Heads heads, StorePosition position) {
    Versionstamp end = Versionstamp.upTo(Reads.await(tx.getReadVersion())).successor();
    if (logFrom == null) {
      logFrom = end;
      knownTo = end;
    }
    if (!list(tx, heads, position.at()) || !scan(tx, heads, position.at())) {
      return false;
    }
    logFrom = end.compareTo(logFrom) > 0 ? end : logFrom;
    knownTo = logFrom;
    return true;
  }

  /** Reads no more at once than leaves the candidates within twice what is kept of them. */
  private boolean list(ReadTransaction tx, Heads heads, Versionstamp position) {
    int atOnce = Math.min(limits.rows(), limits.candidates());
    int left = limits.rows();
    while (!listing.isDone()) {
      if (left <= 0) {
        return false;
      }
      for (DatabaseLife life : listing.next(tx, atOnce)) {
        candidates.add(Candidate.somewhere(life.name(), life.instance(), life.joined()));
      }
      left -= atOnce;
      if (!makeRoom(heads, position)) {
        return false;
      }
    }
    return true;
  }

  private boolean scan(ReadTransaction tx, Heads heads, Versionstamp position) {
    Optional<Versionstamp> from = Optional.of(logFrom);
    int left = limits.rows();
    while (from.isPresent()) {
      if (left <= 0) {
        return false;
      }
      UpdatesLog.Chunk chunk = log.read(tx, from.get(), limits.logRows());
      for (DatabaseUpdate row : chunk.rows()) {
        seen.add(row);
        candidates.add(row, knownTo, position);
        logFrom = row.at().successor();
      }
      left -= chunk.rows().size();
      from = chunk.next();
      if (!makeRoom(heads, position)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Forgets candidates if there are too many: those that come last. To know which these are it
   * looks up where each begins of which nothing is known. False if that takes another transaction.
   */
  private boolean makeRoom(Heads heads, Versionstamp position) {
    if (candidates.size() <= limits.candidates()) {
      return true;
    }
    while (isFirstUnknown(position)) {
      if (!heads.lookUp(candidates)) {
        return false;
      }
    }
    candidates.keepFirst(limits.candidates() / 2);
    return true;
  }

  private boolean isFirstUnknown(Versionstamp position) {
    Candidate first = candidates.peek();
    return first != null
        && first.kind() == Candidate.Kind.SOMEWHERE
        && first.atLeast().compareTo(position) <= 0;
  }
}
