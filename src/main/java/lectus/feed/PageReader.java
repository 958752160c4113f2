package lectus.feed;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import lectus.changes.ChangeEntry;
import lectus.changes.UpdateSequence;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.PageLimits;
import lectus.document.ReadAhead;
import lectus.json.JsonBuffer;
import lectus.store.Reads;

/** Reads one page of a feed in one transaction. */
final class PageReader {
  /** Rows without bodies whose further reads are started together. */
  private static final int ROWS_STARTED = 32;

  /** So many documents are looked up one by one rather than sought among all entries. */
  private static final int DOCUMENTS_LOOKED_UP = 100;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final FeedOptions options;
  private final boolean descending;
  private final PageLimits limits;
  private final JsonBuffer out;
  private final RowFrame frame;
  private final int start;

  PageReader(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedOptions options,
      boolean descending,
      PageLimits limits,
      JsonBuffer out,
      RowFrame frame) {
    this.tx = tx;
    this.db = db;
    this.options = options;
    this.descending = descending;
    this.limits = limits;
    this.out = out;
    this.frame = frame;
    this.start = out.length();
  }

  FeedPage read(FeedPosition from, long limit) {
    int count = entriesToRead(limit);
    // One entry more tells whether the page reached the end.
    List<ChangeEntry> read = entries(from, count + 1);
    if (read.size() > count && limit > 0 && isForFewDocuments()) {
      return readDocuments(from, limit);
    }
    List<ChangeEntry> entries = read.subList(0, Math.min(count, read.size()));
    Progress progress = append(entries, limit);
    boolean reachedEnd = progress.lookedAt() == read.size();
    FeedPosition next = position(from, entries, progress.lookedAt(), reachedEnd);
    long pending = reachedEnd ? 0 : new PendingEntries(tx, db).behind(next);
    return new FeedPage(progress.rows(), next, reachedEnd, pending);
  }

  private boolean isForFewDocuments() {
    return !descending
        && options.filter() instanceof FeedFilter.DocumentIds some
        && some.ids().size() <= DOCUMENTS_LOOKED_UP;
  }

  /** The rest of the feed, or up to the limit, when only some documents are to be shown. */
  private FeedPage readDocuments(FeedPosition from, long limit) {
    Set<String> ids = ((FeedFilter.DocumentIds) options.filter()).ids();
    List<ChangeEntry> entries = new EntryReader(tx, db).ofDocuments(ids, from.sequence());
    Progress progress = append(entries, limit);
    Sequence end = Reads.await(new UpdateSequence(db).read(tx)).orElseThrow();
    boolean noneIsLeft = progress.lookedAt() == entries.size() && progress.rows() < limit;
    Sequence last = noneIsLeft ? end : entries.get(progress.lookedAt() - 1).sequence();
    FeedPosition next = FeedPosition.after(last);
    long pending = last.equals(end) ? 0 : new PendingEntries(tx, db).behind(next);
    return new FeedPage(progress.rows(), next, last.equals(end), pending);
  }

  /**
   * @param lookedAt entries that were shown or filtered out
   */
  private record Progress(int rows, int lookedAt) {}

  private int entriesToRead(long limit) {
    boolean eachIsShown = options.filter() instanceof FeedFilter.None;
    return limit == 0 || eachIsShown
        ? (int) Math.min(limit, limits.rows(options.includeDocs()))
        : limits.rows();
  }

  private List<ChangeEntry> entries(FeedPosition from, int count) {
    EntryReader entries = new EntryReader(tx, db);
    return descending
        ? entries.newest(from.sequence(), count)
        : entries.oldest(from.sequence(), count);
  }

  private Progress append(List<ChangeEntry> entries, long limit) {
    RowWriter writer = new RowWriter(tx, db, options, out);
    PassingEntries passing = passing(entries);
    ReadAhead bodies = new ReadAhead();
    int rows = 0;
    while (rows < limit && !isFull() && passing.hasNext()) {
      int before = out.length();
      int atOnce = options.includeDocs() ? bodies.size() : ROWS_STARTED;
      int more = append(writer, passing, Math.min(atOnce, limit - rows), rows, limit);
      bodies.took(more, out.length() - before);
      rows += more;
    }
    return new Progress(rows, passing.lookedAt());
  }

  private PassingEntries passing(List<ChangeEntry> entries) {
    return options.filter() instanceof FeedFilter.Selected some
        ? new SelectedEntries(tx, db, some.selector(), options.allLeaves(), entries)
        : new EntriesById(entries, options.filter()::passes);
  }

  /**
   * Appends the next rows, with all their reads started before the first.
   *
   * @param most how many at most
   * @param before how many were appended before
   * @return how many it were, at least one
   */
  private int append(RowWriter writer, PassingEntries passing, long most, int before, long limit) {
    List<PassingEntries.Passing> shown = new ArrayList<>();
    while (shown.size() < most && passing.hasNext()) {
      shown.add(passing.next());
    }
    int rows = before;
    for (RowWriter.Started row : writer.start(shown)) {
      frame.before(rows);
      writer.append(row, (limit - rows) % options.sequenceInterval() == 0);
      frame.after(row.entry().sequence());
      rows++;
    }
    return shown.size();
  }

  private boolean isFull() {
    return out.length() - start >= limits.bytes();
  }

  private FeedPosition position(
      FeedPosition from, List<ChangeEntry> entries, int lookedAt, boolean reachedEnd) {
    FeedPosition next =
        lookedAt == 0 ? from : from.behind(entries.get(lookedAt - 1).sequence(), lookedAt);
    boolean isNewest = reachedEnd && !descending;
    return isNewest ? next.atLeast(db.topology().current().since()) : next;
  }
}
