package lectus.changes.log;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.store.Awaiting;

/**
 * The sequence of a database's last change: the highest entry in the current generation's shards,
 * but at least the generation's first sequence and that of the last purge; otherwise it would fall
 * right after resharding, and when the last changed document is purged.
 */
public final class UpdateSequence {
  private final ChangesSubspace changes;
  private final PurgesSubspace purges;
  private final Generation generation;

  public UpdateSequence(DatabaseHandle db) {
    this.changes = new ChangesSubspace(db);
    this.purges = new PurgesSubspace(db);
    this.generation = db.topology().current();
  }

  /** Returns the sequence; empty if nothing was ever written. Reads all shards in parallel. */
  public CompletableFuture<Optional<Sequence>> read(ReadTransaction tx) {
    List<CompletableFuture<Optional<Sequence>>> reading = new ArrayList<>();
    reading.add(purges.last(tx));
    for (ShardId shard : generation.shards()) {
      reading.add(changes.last(tx, shard));
    }
    return CompletableFuture.allOf(reading.toArray(CompletableFuture[]::new))
        .thenApply(
            done ->
                Stream.concat(
                        generation.since().stream(),
                        reading.stream().flatMap(UpdateSequence::value))
                    .max(Sequence::compareTo));
  }

  private static Stream<Sequence> value(CompletableFuture<Optional<Sequence>> last) {
    return Awaiting.await(last).stream();
  }
}
