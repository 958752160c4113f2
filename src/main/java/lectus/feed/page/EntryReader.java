package lectus.feed.page;

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
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Reads;

/**
 * The entries of a database, or of one of its shards, in one order at one read version (RFC 018,
 * Backwards Compatibility). The shards of a generation are read only while the reader is in it.
 */
public final class EntryReader {
  private static final Comparator<ChangeEntry> OLDEST_FIRST =
      Comparator.comparing(ChangeEntry::sequence);

  private final ReadTransaction tx;
  private final ChangesSubspace changes;
  private final RevisionsSubspace revisions;
  private final FeedExtent extent;

  public EntryReader(ReadTransaction tx, DatabaseHandle db) {
    this(tx, db, FeedExtent.whole(db.topology()));
  }

  EntryReader(ReadTransaction tx, DatabaseHandle db, FeedExtent extent) {
    this.tx = tx;
    this.changes = new ChangesSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    this.extent = extent;
  }

  /** The first entries behind {@code after}; fewer than {@code count} only if there are no more. */
  public List<ChangeEntry> oldest(Optional<Sequence> after, int count) {
    List<ChangeEntry> entries = List.of();
    for (Generation generation : extent.from(after)) {
      ShardMerge shards = new ShardMerge(tx, changes, after, Optional.empty(), false);
      entries = joined(entries, shards.read(extent.shardsOf(generation), count - entries.size()));
      if (entries.size() == count) {
        break;
      }
    }
    return entries;
  }

  /** The last entries before {@code before}, newest first. */
  List<ChangeEntry> newest(Optional<Sequence> before, int count) {
    Optional<Sequence> until = before.map(Sequence::predecessor);
    List<ChangeEntry> entries = List.of();
    for (Generation generation : extent.downFrom(until)) {
      ShardMerge shards = new ShardMerge(tx, changes, Optional.empty(), until, true);
      entries = joined(entries, shards.read(extent.shardsOf(generation), count - entries.size()));
      if (entries.size() == count) {
        break;
      }
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
    entries.removeIf(entry -> !extent.includes(entry.docId(), entry.sequence()));
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

  private static List<ChangeEntry> joined(List<ChangeEntry> some, List<ChangeEntry> more) {
    if (some.isEmpty()) {
      return more;
    }
    List<ChangeEntry> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }
}
