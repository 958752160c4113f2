package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.ChangeEntry;
import lectus.changes.log.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.store.Awaiting;

/** Finds tombstones among the oldest changes of one database, in all shards together. */
final class TombstoneSearch {
  /** Changes of one transaction. */
  private static final int ROWS = 1_000;

  private final DatabaseHandle db;

  TombstoneSearch(DatabaseHandle db) {
    this.db = db;
  }

  /**
   * @param ids of documents whose winner was a tombstone
   * @param to up to where there are no others
   * @param isLast whether that is all
   */
  record Found(List<String> ids, Sequence to, boolean isLast) {}

  Found find(ReadTransaction tx, Optional<Sequence> after, Sequence until) {
    List<ShardId> shards =
        db.topology().from(after).stream().flatMap(it -> it.shards().stream()).toList();
    int each = Math.max(1, ROWS / shards.size());
    ChangesSubspace changes = new ChangesSubspace(db);
    List<CompletableFuture<List<ChangeEntry>>> reading = new ArrayList<>(shards.size());
    for (ShardId shard : shards) {
      reading.add(changes.read(tx.snapshot(), shard, after, Optional.of(until), each, false));
    }
    List<List<ChangeEntry>> read = reading.stream().map(Awaiting::await).toList();
    // Where a shard has more, nothing is known behind the last one read.
    Optional<Sequence> end =
        read.stream()
            .filter(rows -> rows.size() == each)
            .map(rows -> rows.get(each - 1).sequence())
            .min(Sequence::compareTo);
    Sequence to = end.orElse(until);
    List<String> ids =
        read.stream()
            .flatMap(List::stream)
            .filter(entry -> entry.deleted() && entry.sequence().compareTo(to) <= 0)
            .map(ChangeEntry::docId)
            .toList();
    return new Found(ids, to, end.isEmpty());
  }
}
