package lectus.changes.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import lectus.changes.log.EntryRows;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.store.Awaiting;

/**
 * Merges the entries of several shards (RFC 018, Backwards Compatibility), or of several channels
 * of a stored feed, into one order, at one read version. All parts are read in parallel. Each read
 * is about the share that a part has of the wanted entries if they are spread evenly; a part that
 * runs dry early is read further, in ever larger steps. So little more is read and held in memory
 * than is returned, however many parts there are.
 */
final class EntryMerge<E> {
  private final EntryRange wanted;
  private final Optional<BinaryOperator<E>> union;

  /** Merges parts of which no two have an entry under the same sequence. */
  EntryMerge(EntryRange wanted) {
    this(wanted, Optional.empty());
  }

  /**
   * @param wanted with a limit
   * @param union makes one entry of two that parts have under the same sequence; empty: there are
   *     no such entries
   */
  EntryMerge(EntryRange wanted, Optional<BinaryOperator<E>> union) {
    this.wanted = wanted;
    this.union = union;
  }

  /** One of several, in the order of sequences. */
  interface Part<E> {
    CompletableFuture<EntryRows<E>> read(EntryRange some);
  }

  /**
   * Returns the first entries; fewer than wanted only if there are no more.
   *
   * @param parts at least one
   */
  List<E> read(List<Part<E>> parts) {
    int count = wanted.limit();
    PriorityQueue<Cursor> heads = open(parts);
    boolean mayRepeat = union.isPresent() && parts.size() > 1;
    List<E> entries = new ArrayList<>(count);
    Place last = null;
    while (!heads.isEmpty()) {
      Cursor first = heads.remove();
      if (mayRepeat && last != null && last.isAt(first)) {
        int at = entries.size() - 1;
        entries.set(at, union.get().apply(entries.get(at), first.take()));
      } else if (entries.size() == count) {
        return entries;
      } else {
        last = new Place(first.rows, first.next);
        entries.add(first.take());
      }
      if (entries.size() == count && !mayRepeat) {
        return entries;
      }
      first.fill(Math.max(1, count - entries.size()), parts.size());
      if (first.isFilled()) {
        heads.add(first);
      }
    }
    return entries;
  }

  /** Starts all reads before it waits for the first. */
  private PriorityQueue<Cursor> open(List<Part<E>> parts) {
    List<Cursor> cursors = new ArrayList<>(parts.size());
    for (Part<E> part : parts) {
      cursors.add(new Cursor(part, share(wanted.limit(), parts.size())));
    }
    cursors.forEach(Cursor::await);
    PriorityQueue<Cursor> heads = new PriorityQueue<>(parts.size(), this::compare);
    cursors.stream().filter(Cursor::isFilled).forEach(heads::add);
    return heads;
  }

  private int compare(Cursor left, Cursor right) {
    int order = EntryRows.compare(left.rows, left.next, right.rows, right.next);
    return wanted.reverse() ? -order : order;
  }

  /**
   * Returns the expected share of one part among the next entries, plus two standard deviations.
   */
  private static int share(int entries, int parts) {
    double mean = (double) entries / parts;
    return (int) Math.min(entries, Math.ceil(mean + 2 * Math.sqrt(mean)));
  }

  /** The place of an entry that was taken. */
  private record Place(EntryRows<?> rows, int row) {
    private boolean isAt(EntryMerge<?>.Cursor cursor) {
      return EntryRows.compare(rows, row, cursor.rows, cursor.next) == 0;
    }
  }

  private final class Cursor {
    private final Part<E> part;
    private int asked;
    private CompletableFuture<EntryRows<E>> reading;
    private EntryRows<E> rows;
    private int next;

    Cursor(Part<E> part, int count) {
      this.part = part;
      read(wanted.first(count));
    }

    private void read(EntryRange some) {
      asked = some.limit();
      reading = part.read(some);
    }

    void await() {
      rows = Awaiting.await(reading);
      next = 0;
    }

    boolean isFilled() {
      return next < rows.size();
    }

    E take() {
      return rows.entry(next++);
    }

    /**
     * Reads more if it has run dry. A part with more than its share is read in ever larger steps.
     *
     * @param more number of entries wanted from all {@code parts} together
     */
    void fill(int more, int parts) {
      if (!isFilled() && rows.size() == asked) {
        int count = Math.min(more, Math.max(share(more, parts), 2 * asked));
        read(wanted.rest(rows.sequence(rows.size() - 1), count));
        await();
      }
    }
  }
}
