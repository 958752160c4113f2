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
import lectus.store.Awaiting;

/**
 * Merges the entries of several shards into one order, at one read version (RFC 018, Backwards
 * Compatibility). All shards are read in parallel. Each read is about the share that a good hash
 * gives the shard of the wanted entries; a shard that runs dry early is read further. So little
 * more is read and held in memory than is returned, however many shards there are.
 */
final class ShardMerge {
  private final ReadTransaction tx;
  private final ChangesSubspace changes;
  private final Optional<Sequence> after;
  private final Optional<Sequence> until;
  private final boolean reverse;

  /**
   * @param after entries after this sequence; empty: from the first
   * @param until entries up to and including this sequence; empty: to the last
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
   * Returns the first entries; fewer than {@code count} only if there are no more.
   *
   * @param shards at least one
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

  /** Starts all reads before it waits for the first. */
  private List<Cursor> open(List<ShardId> shards, int count) {
    List<Cursor> cursors = new ArrayList<>(shards.size());
    for (ShardId shard : shards) {
      cursors.add(new Cursor(shard, share(count, shards.size())));
    }
    cursors.forEach(Cursor::await);
    return cursors;
  }

  /** Compares their next entries; a shard without one comes last. */
  private int compare(Cursor left, Cursor right) {
    if (!left.isFilled() || !right.isFilled()) {
      return Boolean.compare(right.isFilled(), left.isFilled());
    }
    int order = EntryRows.compare(left.rows, left.next, right.rows, right.next);
    return reverse ? -order : order;
  }

  /**
   * Returns the expected share of one shard among the next entries, plus two standard deviations.
   */
  private static int share(int entries, int shards) {
    double mean = (double) entries / shards;
    return (int) Math.min(entries, Math.ceil(mean + 2 * Math.sqrt(mean)));
  }

  /** The position in one shard. */
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
      rows = Awaiting.await(reading);
      next = 0;
    }

    boolean isFilled() {
      return next < rows.size();
    }

    ChangeEntry take() {
      return rows.entry(next++);
    }

    /**
     * Reads more if it has run dry. A shard with more than its share is read in ever larger steps.
     *
     * @param wanted number of entries wanted from all {@code shards} together
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
