package lectus.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Generation;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Reads;

/**
 * The entries of a database in one order, gathered from all shards at one read version (RFC 018,
 * Backwards Compatibility). The shards of a generation are read only while the reader is in it, all
 * of them together.
 */
final class EntryReader {
  private static final Comparator<ChangeEntry> OLDEST_FIRST =
      Comparator.comparing(ChangeEntry::sequence);

  private final ReadTransaction tx;
  private final ChangesSubspace changes;
  private final RevisionsSubspace revisions;
  private final List<Generation> generations;

  EntryReader(ReadTransaction tx, DatabaseHandle db) {
    this.tx = tx;
    this.changes = new ChangesSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    this.generations = db.topology().generations();
  }

  /** The first entries behind {@code after}; fewer than {@code count} only if there are no more. */
  List<ChangeEntry> oldest(Optional<Sequence> after, int count) {
    List<ChangeEntry> entries = List.of();
    for (int i = indexAt(after); i < generations.size() && entries.size() < count; i++) {
      int missing = count - entries.size();
      entries = joined(entries, read(generations.get(i), after, Optional.empty(), missing, false));
    }
    return entries;
  }

  /** The last entries before {@code before}, newest first. */
  List<ChangeEntry> newest(Optional<Sequence> before, int count) {
    Optional<Sequence> until = before.map(EntryReader::predecessor);
    List<ChangeEntry> entries = List.of();
    int last = before.isEmpty() ? generations.size() - 1 : indexAt(until);
    for (int i = last; i >= 0 && entries.size() < count; i--) {
      int missing = count - entries.size();
      entries = joined(entries, read(generations.get(i), Optional.empty(), until, missing, true));
    }
    return entries;
  }

  /**
   * The entries of some documents behind {@code after}, all of them, from where each document keeps
   * its entry's sequence: its winning branch.
   */
  List<ChangeEntry> ofDocuments(Set<String> ids, Optional<Sequence> after) {
    Map<String, CompletableFuture<Optional<EditBranch>>> winners = new HashMap<>();
    for (String id : ids) {
      winners.put(id, revisions.winner(tx, id));
    }
    List<ChangeEntry> entries = new ArrayList<>();
    winners.forEach(
        (id, winner) -> Reads.await(winner).map(it -> entry(id, it)).ifPresent(entries::add));
    entries.removeIf(entry -> after.isPresent() && entry.sequence().compareTo(after.get()) <= 0);
    entries.sort(OLDEST_FIRST);
    return entries;
  }

  private static ChangeEntry entry(String id, EditBranch winner) {
    return new ChangeEntry(
        winner.winner().sequence(),
        id,
        winner.leaf(),
        winner.deleted(),
        winner.winner().branchCount());
  }

  private List<ChangeEntry> read(
      Generation generation,
      Optional<Sequence> after,
      Optional<Sequence> until,
      int count,
      boolean reverse) {
    List<CompletableFuture<List<ChangeEntry>>> reading = new ArrayList<>();
    for (ShardId shard : generation.shards()) {
      reading.add(changes.read(tx, shard, after, until, count, reverse));
    }
    if (reading.size() == 1) {
      return Reads.await(reading.get(0));
    }
    List<ChangeEntry> entries = new ArrayList<>();
    reading.forEach(shard -> entries.addAll(Reads.await(shard)));
    entries.sort(reverse ? OLDEST_FIRST.reversed() : OLDEST_FIRST);
    return entries.subList(0, Math.min(count, entries.size()));
  }

  private int indexAt(Optional<Sequence> sequence) {
    for (int i = generations.size() - 1; i > 0; i--) {
      if (sequence.isPresent()
          && generations.get(i).since().orElseThrow().compareTo(sequence.get()) <= 0) {
        return i;
      }
    }
    return 0;
  }

  private static List<ChangeEntry> joined(List<ChangeEntry> some, List<ChangeEntry> more) {
    if (some.isEmpty()) {
      return more;
    }
    List<ChangeEntry> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }

  /** The sequence right before another one of the same incarnation. */
  private static Sequence predecessor(Sequence sequence) {
    byte[] versionstamp = sequence.versionstamp().clone();
    int at = versionstamp.length - 1;
    while (at >= 0 && versionstamp[at]-- == 0) {
      at--;
    }
    return new Sequence(sequence.incarnation(), versionstamp);
  }
}
