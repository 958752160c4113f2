package lectus.changes.multi;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.PageTime;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedRights;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.SecurityObject;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Opens the candidates' databases in one transaction, many at once, up to the limit of one
 * transaction.
 */
final class Openings {
  /** Number of databases whose reads are started together. */
  private static final int TOGETHER = 32;

  private final ReadTransaction tx;
  private final Catalogue catalogue;
  private final StorePosition position;
  private final int most;
  private final PageTime time;
  private final FeedRights rights;
  private final VisibleDatabases visible;
  private final FeedOptions options;
  private final Map<DatabaseName, SecurityObject> readers = new HashMap<>();
  private final Set<DatabaseName> bereft = new HashSet<>();
  private byte[] metadataVersion;
  private boolean begun;
  private int looked;

  /**
   * @param position everything up to here was delivered
   * @param most maximum number of databases to open
   * @param visible others are passed over as if there were no such databases
   */
  Openings(
      ReadTransaction tx,
      Catalogue catalogue,
      FeedRights rights,
      StorePosition position,
      int most,
      PageTime time,
      VisibleDatabases visible,
      FeedOptions options) {
    this.rights = rights;
    this.visible = visible;
    this.options = options;
    this.tx = tx;
    this.catalogue = catalogue;
    this.position = position;
    this.most = most;
    this.time = time;
  }

  /** Whether another transaction has to continue. */
  boolean isOver() {
    return looked >= most || (looked > 0 && time.isUp());
  }

  /**
   * Looks up where the first candidates begin, where that is unknown. The result stays a lower
   * bound in later transactions, because entries only move to later places.
   *
   * @return false if no more databases may be opened
   */
  boolean lookUp(CandidateQueue candidates) {
    if (isOver()) {
      return false;
    }
    List<Candidate> unknown = candidates.pollUnknown(atOnce());
    List<Candidate> found = unknown;
    try {
      found = open(unknown).stream().map(db -> Candidate.changes(db.name(), db.next())).toList();
    } finally {
      found.forEach(candidates::add);
    }
    return true;
  }

  /** Returns how many databases may be opened at once now. */
  int atOnce() {
    return Math.min(most - looked, TOGETHER);
  }

  /** Opens those databases that have something after the position. */
  List<OpenDatabase> open(List<Candidate> candidates) {
    if (!begun) {
      metadataVersion = catalogue.metadataVersion(tx);
      begun = true;
    }
    looked += candidates.size();
    List<CompletableFuture<Optional<OpenDatabase>>> opening = new ArrayList<>(candidates.size());
    candidates.forEach(candidate -> opening.add(open(candidate)));
    List<OpenDatabase> opened = new ArrayList<>(candidates.size());
    for (CompletableFuture<Optional<OpenDatabase>> one : opening) {
      Awaiting.await(one).map(this::begin).filter(OpenDatabase::hasNext).ifPresent(opened::add);
    }
    return opened;
  }

  private OpenDatabase begin(OpenDatabase db) {
    db.begin();
    if (db.hasLostFeed()) {
      bereft.add(db.name());
    }
    return db;
  }

  /** Returns the databases whose stored feed has been removed, or was and is another one now. */
  Set<DatabaseName> bereft() {
    return bereft;
  }

  /** Returns who may read the databases that were looked at. */
  Map<DatabaseName, SecurityObject> readers() {
    return readers;
  }

  private boolean isSeen(DatabaseHandle db) {
    SecurityObject those = rights.readers(db);
    readers.put(db.name(), those);
    return visible.isOfEverything() || visible.isAmong(those);
  }

  private CompletableFuture<Optional<OpenDatabase>> open(Candidate candidate) {
    return catalogue
        .glimpse(tx, candidate.name(), metadataVersion)
        .thenCompose(
            db ->
                db.filter(this::isSeen).isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : OpenDatabase.open(tx, db.get(), options, position, handedOut(candidate))
                        .thenApply(Optional::of));
  }

  /**
   * Returns up to where everything of a database was handed out or passed over. A database that the
   * user may read only now was passed over so far; rows of it from before would come out of order.
   */
  private Versionstamp handedOut(Candidate candidate) {
    Versionstamp before = candidate.atLeast().predecessor();
    return before.compareTo(position.at()) > 0 ? before : position.at();
  }
}
