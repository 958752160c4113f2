package lectus.changes.page;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import lectus.changes.log.EntryRows;
import lectus.database.Sequence;
import lectus.store.Awaiting;

/**
 * Merges the entries of several shards (RFC 018, Backwards Compatibility), or of several channels
 * of a stored feed, into one order, at one read version. All parts are read in parallel. Each read
 * is about the share that a part has of the wanted entries if they are spread evenly; a part that
 * runs dry early is read further, in ever larger steps. So little more is read and held in memory
 * than is returned, however many parts there are.
 */
final class EntryMerge<E> {
  private final Optional<Sequence> after;
  private final Optional<Sequence> until;
  private final boolean reverse;
  private final Optional<BinaryOperator<E>> union;

  /**
   * @param after entries after this sequence; empty: from the first
   * @param until entries up to and including this sequence; empty: to the last
   * @param reverse newest first
   */
  EntryMerge(Optional<Sequence> after, Optional<Sequence> until, boolean reverse) {
    this(after, until, reverse, Optional.empty());
  }

  /**
   * @param union makes one entry of two that parts have under the same sequence; empty: there are
   *     no such entries
   */
  EntryMerge(
      Optional<Sequence> after,
      Optional<Sequence> until,
      boolean reverse,
      Optional<BinaryOperator<E>> union) {
    this.after = after;
    this.until = until;
    this.reverse = reverse;
    this.union = union;
  }

  /** One of several, in the order of sequences. */
  interface Part<E> {
    /** Reads entries after one sequence up to and including another, in one range read. */
    CompletableFuture<EntryRows<E>> read(
        Optional<Sequence> after, Optional<Sequence> until, int count, boolean reverse);
  }

  /**
   * Returns the first entries; fewer than {@code count} only if there are no more.
   *
   * @param parts at least one
   */
  List<E> read(List<Part<E>> parts, int count) {
    Tournament<Cursor> heads = new Tournament<>(open(parts, count), this::compare);
    boolean mayRepeat = union.isPresent() && parts.size() > 1;
    List<E> entries = new ArrayList<>(count);
    Place last = null;
    while (heads.first().isFilled()) {
      Cursor first = heads.first();
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
      heads.replay();
    }
    return entries;
  }

  /** Starts all reads before it waits for the first. */
  private List<Cursor> open(List<Part<E>> parts, int count) {
    List<Cursor> cursors = new ArrayList<>(parts.size());
    for (Part<E> part : parts) {
      cursors.add(new Cursor(part, share(count, parts.size())));
    }
    cursors.forEach(Cursor::await);
    return cursors;
  }

  /** Compares their next entries; a part without one comes last. */
  private int compare(Cursor left, Cursor right) {
    if (!left.isFilled() || !right.isFilled()) {
      return Boolean.compare(right.isFilled(), left.isFilled());
    }
    int order = EntryRows.compare(left.rows, left.next, right.rows, right.next);
    return reverse ? -order : order;
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

  /** The position in one part. */
  private final class Cursor {
    private final Part<E> part;
    private int asked;
    private CompletableFuture<EntryRows<E>> reading;
    private EntryRows<E> rows;
    private int next;

    Cursor(Part<E> part, int count) {
      this.part = part;
      read(after, until, count);
    }

    private void read(Optional<Sequence> begin, Optional<Sequence> end, int count) {
      asked = count;
      reading = part.read(begin, end, count, reverse);
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
     * @param wanted number of entries wanted from all {@code parts} together
     */
    void fill(int wanted, int parts) {
      if (!isFilled() && rows.size() == asked) {
        readOn(Math.min(wanted, Math.max(share(wanted, parts), 2 * asked)));
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

  /**
   * Knows the first of several contestants and, after that one has changed, the new first one, with
   * one comparison for each doubling of their number: a tree of losers (Knuth, The Art of Computer
   * Programming, volume 3, section 5.4.1).
   */
  private static final class Tournament<T> {
    private final List<T> contestants;
    private final Comparator<? super T> order;

    /**
     * The loser at each inner node of the tree; node 1 is the root, node i has the children 2i and
     * 2i + 1.
     */
    private final int[] losers;

    private int winner;

    /**
     * @param contestants at least one
     */
    Tournament(List<T> contestants, Comparator<? super T> order) {
      this.contestants = contestants;
      this.order = order;
      this.losers = new int[contestants.size()];
      this.winner = play(1);
    }

    T first() {
      return contestants.get(winner);
    }

    /** Replays the first contestant, which has changed. */
    void replay() {
      int survivor = winner;
      for (int node = (survivor + losers.length) / 2; node >= 1; node /= 2) {
        int rival = losers[node];
        if (isBefore(rival, survivor)) {
          losers[node] = survivor;
          survivor = rival;
        }
      }
      winner = survivor;
    }

    private int play(int node) {
      if (node >= losers.length) {
        return node - losers.length;
      }
      int left = play(2 * node);
      int right = play(2 * node + 1);
      boolean rightWins = isBefore(right, left);
      losers[node] = rightWins ? left : right;
      return rightWins ? right : left;
    }

    private boolean isBefore(int one, int other) {
      return order.compare(contestants.get(one), contestants.get(other)) < 0;
    }
  }
}
