package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import lectus.database.Sequence;
import lectus.document.feed.FeedEntriesSubspace;
import lectus.document.feed.FeedEntriesSubspace.Part;
import lectus.document.feed.FeedEntry;
import lectus.store.Awaiting;

/**
 * Merges the entries of several channels of a stored feed into one order, at one read version. A
 * document that is in several of them has one entry.
 */
final class ChannelMerge {
  /** Entries of each part in the first read, if there are several; later reads are larger. */
  private static final int FIRST_BATCH = 16;

  private final ReadTransaction tx;
  private final FeedEntriesSubspace entries;
  private final Optional<Sequence> after;
  private final Optional<Sequence> until;
  private final boolean reverse;

  /**
   * @param after entries after this sequence; empty: from the first
   * @param until entries up to and including this sequence; empty: to the last
   * @param reverse newest first
   */
  ChannelMerge(
      ReadTransaction tx,
      FeedEntriesSubspace entries,
      Optional<Sequence> after,
      Optional<Sequence> until,
      boolean reverse) {
    this.tx = tx;
    this.entries = entries;
    this.after = after;
    this.until = until;
    this.reverse = reverse;
  }

  /** Returns the first entries; fewer than {@code count} only if there are no more. */
  List<FeedEntry> read(Collection<Part> parts, int count) {
    Comparator<Cursor> order = Comparator.comparing(cursor -> cursor.first().entry().sequence());
    PriorityQueue<Cursor> heads = new PriorityQueue<>(reverse ? order.reversed() : order);
    open(parts, count).stream().filter(Cursor::isFilled).forEach(heads::add);
    List<FeedEntry> merged = new ArrayList<>();
    while (!heads.isEmpty()) {
      Cursor cursor = heads.poll();
      FeedEntry next = cursor.first();
      int last = merged.size() - 1;
      if (last >= 0 && isSame(merged.get(last), next)) {
        merged.set(last, both(merged.get(last), next));
      } else if (merged.size() == count) {
        return merged;
      } else {
        merged.add(next);
      }
      if (cursor.advance()) {
        heads.add(cursor);
      }
    }
    return merged;
  }

  private static boolean isSame(FeedEntry one, FeedEntry other) {
    return one.entry().sequence().equals(other.entry().sequence());
  }

  private static FeedEntry both(FeedEntry one, FeedEntry other) {
    return new FeedEntry(one.entry(), one.standing().or(other.standing()));
  }

  /** Starts all reads before it waits for the first. */
  private List<Cursor> open(Collection<Part> parts, int count) {
    int batch = parts.size() == 1 ? count : Math.min(count, FIRST_BATCH);
    List<Cursor> cursors = parts.stream().map(it -> new Cursor(it, batch)).toList();
    cursors.forEach(Cursor::await);
    return cursors;
  }

  /** The position in one part. */
  private final class Cursor {
    private final Part part;
    private int batch;
    private CompletableFuture<List<FeedEntry>> reading;
    private List<FeedEntry> read;
    private int next;

    Cursor(Part part, int batch) {
      this.part = part;
      this.batch = batch;
      this.reading = entries.read(tx, part, after, until, batch, reverse);
    }

    void await() {
      read = Awaiting.await(reading);
      reading = null;
      next = 0;
    }

    boolean isFilled() {
      return next < read.size();
    }

    FeedEntry first() {
      return read.get(next);
    }

    /** Returns whether there is another entry. */
    boolean advance() {
      Sequence last = first().entry().sequence();
      next++;
      if (!isFilled() && read.size() == batch) {
        batch *= 2;
        reading =
            reverse
                ? entries.read(tx, part, after, Optional.of(last.predecessor()), batch, true)
                : entries.read(tx, part, Optional.of(last), until, batch, false);
        await();
      }
      return isFilled();
    }
  }
}
