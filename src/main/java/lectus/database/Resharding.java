package lectus.database;

import com.apple.foundationdb.Transaction;
import java.util.HashSet;
import java.util.Set;
import lectus.database.ShardTopology.EmptiedGenerations;
import lectus.database.ShardTopology.Era;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Makes new shards take the changes of a database from one transaction on (RFC 018, Resharding).
 * Also keeps the description of earlier generations small: consecutive emptied generations are
 * merged into one entry of the configuration.
 */
final class Resharding {
  /** Maximum number of generations that a feed from the beginning reads one after the other. */
  static final int MAX_GENERATIONS_WITH_ROWS = 64;

  /** Minimum number of emptied generations worth merging into an entry. */
  private static final int WORTH_MERGING = 2;

  /**
   * Maximum number of shards that one transaction forgets, unless a single generation has more: a
   * megabyte or two.
   */
  private static final int MAX_SHARDS_FORGOTTEN = 10_000;

  private final Transaction tx;
  private final DatabaseHandle db;
  private int shardsForgotten;

  /**
   * @param tx has the shard map in its read conflict ranges
   */
  Resharding(Transaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.db = db;
  }

  /**
   * @return the topology once the transaction is committed, with a placeholder for the beginning of
   *     the new generation
   * @throws LectusException {@code conflict} (409) if too many generations have rows
   */
  ShardTopology run(int shards) {
    ShardTopology former = db.topology();
    return former.eras().size() < WORTH_MERGING
        ? replace(former, shards)
        : replace(merged(former), shards);
  }

  /**
   * Merges replaced, empty generations. They take no more changes, so their counters stay valid
   * whenever the transaction commits. The current generation may meanwhile be written to.
   */
  private ShardTopology merged(ShardTopology former) {
    Set<ShardId> filled = Awaiting.await(DatabaseCounters.filledShards(tx, db));
    checkGenerations(former.generations().stream().filter(it -> it.hasAnyOf(filled)).count());
    ShardTopology merged =
        former.merged(it -> it.replaced() && !it.hasAnyOf(filled) && mayForget(it), WORTH_MERGING);
    Set<Era> kept = new HashSet<>(merged.eras());
    for (Era gone : former.eras()) {
      if (!kept.contains(gone)) {
        forget(gone);
      }
    }
    Set<EmptiedGenerations> known = new HashSet<>(former.emptied());
    for (EmptiedGenerations emptied : merged.emptied()) {
      if (!known.contains(emptied)) {
        ConfigSubspace.putEmptied(tx, db.prefix(), emptied);
      }
    }
    return merged;
  }

  /** Whatever is left for the next resharding does no harm. */
  private boolean mayForget(Generation generation) {
    shardsForgotten += generation.shards().size();
    return shardsForgotten <= MAX_SHARDS_FORGOTTEN;
  }

  /** The counters of an emptied generation are all 0. */
  private void forget(Era gone) {
    tx.clear(ConfigSubspace.shardMapKey(db.prefix(), gone));
    if (gone instanceof Generation generation) {
      for (ShardId shard : generation.shards()) {
        tx.clear(StatisticsSubspace.entriesRange(db.prefix(), shard));
      }
    }
  }

  private ShardTopology replace(ShardTopology former, int shards) {
    Sequence uncommitted = new Sequence(db.incarnation(), Versionstamp.placeholder(0));
    ShardTopology topology = former.resharded(uncommitted, shards);
    Generation replaced = former.current().asReplaced();
    ConfigSubspace.reshard(tx, db.prefix(), db.incarnation(), replaced, topology.current());
    DatabaseCache.moveMetadataVersion(tx);
    return topology;
  }

  private static void checkGenerations(long withRows) {
    if (withRows >= MAX_GENERATIONS_WITH_ROWS) {
      throw new LectusException(
          new LectusError.NotNow(
              "The changes of "
                  + withRows
                  + " generations of shards are not empty, which is as many as there may be. A"
                  + " generation is empty once all documents that were written in it have been"
                  + " written again."));
    }
  }
}
