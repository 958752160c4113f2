package lectus.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseLife;
import lectus.database.DatabaseName;
import lectus.database.DatabaseUpdate;
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
  private final DatabaseSet wanted;
  private final Catalogue catalogue;
  private final UpdatesLog log;
  private final InstanceNames seen;
  private final ScanLimits limits;
  private final Candidates candidates;

  /** What of the catalogue is not listed yet. */
  private final List<DatabaseName> names;

  private final List<DatabasePattern> patterns;
  private Optional<DatabaseName> listed = Optional.empty();

  /** The first point of the log not looked at; null as long as nothing was looked at. */
  private Versionstamp logFrom;

  private Versionstamp knownTo;
  private int looked;

  CandidateScan(
      DatabaseSet wanted,
      Catalogue catalogue,
      UpdatesLog log,
      InstanceNames seen,
      ScanLimits limits,
      StorePosition from) {
    this.wanted = wanted;
    this.catalogue = catalogue;
    this.log = log;
    this.seen = seen;
    this.limits = limits;
    this.candidates = new Candidates(wanted);
    boolean fromBeginning = from.equals(StorePosition.BEGINNING);
    this.names = fromBeginning ? wanted.names() : new ArrayList<>();
    this.patterns = fromBeginning ? wanted.patterns() : new ArrayList<>();
    this.logFrom = fromBeginning ? null : from.at().startOfCommit();
    this.knownTo = from.at();
  }

  /** The same, to go on with on its own. */
  CandidateScan(CandidateScan other) {
    this.wanted = other.wanted;
    this.catalogue = other.catalogue;
    this.log = other.log;
    this.seen = other.seen;
    this.limits = other.limits;
    this.candidates = new Candidates(other.candidates);
    this.names = new ArrayList<>(other.names);
    this.patterns = new ArrayList<>(other.patterns);
    this.listed = other.listed;
    this.logFrom = other.logFrom;
    this.knownTo = other.knownTo;
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
    looked = 0;
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

  private boolean list(ReadTransaction tx, Heads heads, Versionstamp position) {
    while (!names.isEmpty() || !patterns.isEmpty()) {
      if (looked >= limits.rows() || !makeRoom(tx, heads, position)) {
        return false;
      }
      List<DatabaseLife> lives = names.isEmpty() ? nextMatching(tx) : nextNamed(tx);
      for (DatabaseLife life : lives) {
        if (wanted.contains(life.name())) {
          candidates.add(Candidate.somewhere(life.name(), life.instance(), life.joined()));
        }
      }
    }
    return makeRoom(tx, heads, position);
  }

  private List<DatabaseLife> nextNamed(ReadTransaction tx) {
    List<DatabaseName> next = names.subList(0, Math.min(names.size(), atOnce()));
    List<CompletableFuture<Optional<DatabaseLife>>> reading = new ArrayList<>();
    next.forEach(name -> reading.add(catalogue.life(tx, name)));
    looked += next.size();
    next.clear();
    return reading.stream().flatMap(life -> Reads.await(life).stream()).toList();
  }

  private List<DatabaseLife> nextMatching(ReadTransaction tx) {
    List<DatabaseLife> lives = catalogue.lives(tx, patterns.get(0).head(), listed, atOnce());
    looked += lives.size();
    if (lives.size() < atOnce()) {
      patterns.remove(0);
      listed = Optional.empty();
    } else {
      listed = Optional.of(lives.get(lives.size() - 1).name());
    }
    return lives;
  }

  /** No more than leaves the candidates within twice what is kept of them. */
  private int atOnce() {
    return Math.min(limits.rows(), limits.candidates());
  }

  private boolean scan(ReadTransaction tx, Heads heads, Versionstamp position) {
    Optional<Versionstamp> from = Optional.of(logFrom);
    while (from.isPresent()) {
      if (looked >= limits.rows()) {
        return false;
      }
      UpdatesLog.Chunk chunk = log.read(tx, from.get(), limits.logRows());
      for (DatabaseUpdate row : chunk.rows()) {
        seen.add(row);
        candidates.add(row, knownTo, position);
        logFrom = row.at().successor();
      }
      looked += chunk.rows().size();
      from = chunk.next();
      if (!makeRoom(tx, heads, position)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Forgets candidates if there are too many: those that come last. To know which these are it
   * looks up where each begins of which nothing is known. False if that takes another transaction.
   */
  private boolean makeRoom(ReadTransaction tx, Heads heads, Versionstamp position) {
    if (candidates.size() <= limits.candidates()) {
      return true;
    }
    while (candidates.peek() != null
        && candidates.peek().kind() == Candidate.Kind.SOMEWHERE
        && candidates.peek().atLeast().compareTo(position) <= 0) {
      if (!heads.lookUp(candidates)) {
        return false;
      }
    }
    candidates.keepFirst(limits.candidates() / 2);
    return true;
  }
}
