package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.ChangeEntry;
import lectus.changes.ChangesSubspace;
import lectus.changes.EntryRows;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.store.Reads;

/**
 * The entries of several shards in one order, at one read version (RFC 018, Backwards
 * Compatibility). All shards are read together, each ahead by about the share that a good hash
 * gives it of what is wanted; one that runs dry before is read on. So little more is read, and lies
 * in memory, than is handed out, however many shards there are.
 */
final class ShardMerge {
  private final ReadTransaction tx;
  private final ChangesSubspace changes;
  private final Optional<Sequence> after;
  private final Optional<Sequence> until;
  private final boolean reverse;

  /**
   * @param after entries behind this sequence; empty: from the first on
   * @param until entries up to and with this sequence; empty: to the last
   * @param reverse newest first
   */
  ShardMerge(
      ReadTransaction tx,
      ChangesSubspace changes,
      Optional<Sequence> after,
      Optional<Sequence> until,
      boolean reverse) {
    this.tx = tx;
    this.changes = changes;
    this.after = after;
    this.until = until;
    this.reverse = reverse;
  }

  /**
   * The first entries; fewer than {@code count} only if there are no more.
   *
   * @param shards one at least
   */
  List<ChangeEntry> read(List<ShardId> shards, int count) {
    Tournament<Cursor> heads = new Tournament<>(open(shards, count), this::compare);
    List<ChangeEntry> entries = new ArrayList<>(count);
    while (entries.size() < count && heads.first().isFilled()) {
      Cursor first = heads.first();
      entries.add(first.take());
      if (entries.size() < count) {
        first.fill(count - entries.size(), shards.size());
        heads.replay();
      }
    }
    return entries;
  }

  /** Starts to read all before it waits for the first. */
  private List<Cursor> open(List<ShardId> shards, int count) {
    List<Cursor> cursors = new ArrayList<>(shards.size());
    for (ShardId shard : shards) {
      cursors.add(new Cursor(shard, share(count, shards.size())));
    }
    cursors.forEach(Cursor::await);
    return cursors;
  }

  /** By their next entries; a shard that has none is behind all others. */
  private int compare(Cursor left, Cursor right) {
    if (!left.isFilled() || !right.isFilled()) {
      return Boolean.compare(right.isFilled(), left.isFilled());
    }
    int order = EntryRows.compare(left.rows, left.next, right.rows, right.next);
    return reverse ? -order : order;
  }

  /** What one of {@code shards} has of the next entries, with two deviations to spare. */
  private static int share(int entries, int shards) {
    double mean = (double) entries / shards;
    return (int) Math.min(entries, Math.ceil(mean + 2 * Math.sqrt(mean)));
  }

  /** How far one shard has come. */
  private final class Cursor {
    private final ShardId shard;
    private int asked;
    private CompletableFuture<EntryRows> reading;
    private EntryRows rows;
    private int next;

    Cursor(ShardId shard, int count) {
      this.shard = shard;
      read(after, until, count);
    }

    private void read(Optional<Sequence> begin, Optional<Sequence> end, int count) {
      asked = count;
      reading = changes.rows(tx, shard, begin, end, count, reverse);
    }

    void await() {
      rows = Reads.await(reading);
      next = 0;
    }

    boolean isFilled() {
      return next < rows.size();
    }

    ChangeEntry take() {
      return rows.entry(next++);
    }

    /**
     * Reads on if it has run dry. A shard with more than its share is read in ever larger steps.
     *
     * @param wanted entries wanted of all {@code shards} together
     */
    void fill(int wanted, int shards) {
      if (!isFilled() && rows.size() == asked) {
        readOn(Math.min(wanted, Math.max(share(wanted, shards), 2 * asked)));
      }
    }

    private void readOn(int count) {
      Sequence last = rows.sequence(rows.size() - 1);
      if (reverse) {
        read(after, Optional.of(last.predecessor()), count);
      } else {
        read(Optional.of(last), until, count);
      }
      await();
    }
  }
}
