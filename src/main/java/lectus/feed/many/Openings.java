package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.feed.PageTime;
import lectus.feed.updates.StorePosition;
import lectus.store.Reads;
import lectus.store.Versionstamp;

/**
 * Opens the databases of candidates in one transaction, many at once, and no more of them than one
 * transaction is to look at.
 */
final class Openings {
  /** Databases whose reads are started together. */
  private static final int TOGETHER = 32;

  private final ReadTransaction tx;
  private final Catalogue catalogue;
  private final Versionstamp position;
  private final int most;
  private final PageTime time;
  private byte[] metadataVersion;
  private boolean begun;
  private int looked;

  /**
   * @param position nothing at or before it is to be told any more
   * @param most how many databases are looked at
   */
  Openings(
      ReadTransaction tx, Catalogue catalogue, StorePosition position, int most, PageTime time) {
    this.tx = tx;
    this.catalogue = catalogue;
    this.position = position.at();
    this.most = most;
    this.time = time;
  }

  /** Whether another transaction has to go on. */
  boolean isOver() {
    return looked >= most || looked > 0 && time.isUp();
  }

  /**
   * Finds out where the first candidates begin, of which that is not known. What it finds stays a
   * lower bound in later transactions: entries only move to later places.
   *
   * @return false if nothing may be looked at any more
   */
  boolean lookUp(Candidates candidates) {
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

  /** As many as are to be opened at once now. */
  int atOnce() {
    return Math.min(most - looked, TOGETHER);
  }

  /** Opens the databases that have something behind the position. */
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
      Reads.await(one)
          .map(OpenDatabase::begin)
          .filter(OpenDatabase::hasNext)
          .ifPresent(opened::add);
    }
    return opened;
  }

  private CompletableFuture<Optional<OpenDatabase>> open(Candidate candidate) {
    return catalogue
        .glimpse(tx, candidate.name(), metadataVersion)
        .thenCompose(
            db ->
                db.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : OpenDatabase.open(tx, db.get(), position).thenApply(Optional::of));
  }
}
