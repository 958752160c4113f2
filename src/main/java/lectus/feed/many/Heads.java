package lectus.feed.many;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.feed.PageTime;
import lectus.feed.page.EntryReader;
import lectus.feed.updates.StorePosition;
import lectus.store.Reads;
import lectus.store.Versionstamp;

/**
 * Looks up the first change behind a position of many databases at once, in one transaction. What
 * it finds stays a lower bound in later transactions: entries only move to later places.
 */
final class Heads {
  /** Databases that are read together. */
  private static final int TOGETHER = 32;

  private final ReadTransaction tx;
  private final Catalogue catalogue;
  private final Versionstamp position;
  private final int most;
  private final PageTime time;
  private int looked;

  /**
   * @param most how many databases it looks at
   */
  Heads(ReadTransaction tx, Catalogue catalogue, StorePosition position, int most, PageTime time) {
    this.tx = tx;
    this.catalogue = catalogue;
    this.position = position.at();
    this.most = most;
    this.time = time;
  }

  /**
   * Looks at the first candidates as long as it is not known where they begin.
   *
   * @return false if it may not look at any more: another transaction has to go on
   */
  boolean lookUp(Candidates candidates) {
    if (looked == most || looked > 0 && time.isUp()) {
      return false;
    }
    List<Candidate> unknown = candidates.pollUnknown(Math.min(most - looked, TOGETHER));
    looked += unknown.size();
    List<Optional<DatabaseHandle>> databases = databases(unknown);
    List<Looking> looking = new ArrayList<>(unknown.size());
    for (int i = 0; i < unknown.size(); i++) {
      Candidate candidate = unknown.get(i);
      databases.get(i).ifPresent(db -> looking.add(new Looking(candidate, db)));
    }
    for (Looking one : looking) {
      one.first().ifPresent(at -> candidates.add(one.candidate.firstAt(at)));
    }
    return true;
  }

  /**
   * The candidates' databases as they are at the read version; empty where that life is over, which
   * the updates log tells behind where it was looked at.
   */
  private List<Optional<DatabaseHandle>> databases(List<Candidate> candidates) {
    List<Optional<DatabaseHandle>> current =
        new ArrayList<>(
            catalogue.currentAll(tx, candidates.stream().map(Candidate::name).toList()));
    for (int i = 0; i < current.size(); i++) {
      InstanceId instance = candidates.get(i).instance();
      current.set(i, current.get(i).filter(db -> db.instance().equals(instance)));
    }
    return current;
  }

  /** The one candidate's database; empty if that life is over. */
  Optional<DatabaseHandle> database(Candidate candidate) {
    return databases(List.of(candidate)).get(0);
  }

  /** One database's first change, on its way. */
  private final class Looking {
    private final Candidate candidate;
    private final DatabaseHandle db;
    private final Sequence after;
    private final List<CompletableFuture<List<ChangeEntry>>> reading = new ArrayList<>();

    Looking(Candidate candidate, DatabaseHandle db) {
      this.candidate = candidate;
      this.db = db;
      this.after = new Sequence(db.incarnation(), position.bytes());
      ChangesSubspace changes = new ChangesSubspace(db);
      for (ShardId shard : db.topology().at(after).shards()) {
        reading.add(changes.read(tx, shard, Optional.of(after), Optional.empty(), 1, false));
      }
    }

    Optional<Versionstamp> first() {
      return reading.stream()
          .flatMap(shard -> Reads.await(shard).stream())
          .map(ChangeEntry::sequence)
          .min(Comparator.naturalOrder())
          .or(this::firstOfLaterGeneration)
          .map(sequence -> new Versionstamp(sequence.versionstamp()));
    }

    private Optional<Sequence> firstOfLaterGeneration() {
      if (db.topology().at(after).equals(db.topology().current())) {
        return Optional.empty();
      }
      return new EntryReader(tx, db)
          .oldest(Optional.of(after), 1).stream().map(ChangeEntry::sequence).findFirst();
    }
  }
}
