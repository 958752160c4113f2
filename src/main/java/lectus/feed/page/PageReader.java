package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.ChangeEntry;
import lectus.changes.UpdateSequence;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.PageLimits;
import lectus.feed.FeedEnd;
import lectus.feed.filter.FeedFilter;
import lectus.json.JsonBuffer;
import lectus.store.Reads;

/** Reads one page of a feed in one transaction. */
final class PageReader {
  /** So many documents are looked up one by one rather than sought among all entries. */
  private static final int DOCUMENTS_LOOKED_UP = 100;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final FeedExtent extent;
  private final FeedOptions options;
  private final boolean descending;
  private final PageLimits limits;
  private final JsonBuffer out;
  private final RowFrame frame;
  private final int start;

  PageReader(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedExtent extent,
      FeedOptions options,
      boolean descending,
      PageLimits limits,
      JsonBuffer out,
      RowFrame frame) {
    this.tx = tx;
    this.db = db;
    this.extent = extent;
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
    PageRows.Progress progress = append(entries, limit);
    boolean reachedEnd = progress.lookedAt() == read.size();
    FeedPosition next = position(from, entries, progress.lookedAt(), reachedEnd);
    return page(progress.rows(), next, reachedEnd);
  }

  private boolean isForFewDocuments() {
    return !descending
        && options.filter() instanceof FeedFilter.DocumentIds some
        && some.ids().size() <= DOCUMENTS_LOOKED_UP;
  }

  /** The rest of the feed, or up to the limit, when only some documents are to be shown. */
  private FeedPage readDocuments(FeedPosition from, long limit) {
    Set<String> ids = ((FeedFilter.DocumentIds) options.filter()).ids();
    List<ChangeEntry> entries = new EntryReader(tx, db, extent).ofDocuments(ids, from.sequence());
    PageRows.Progress progress = append(entries, limit);
    boolean noneIsLeft = progress.lookedAt() == entries.size() && progress.rows() < limit;
    Sequence end = end().orElseThrow();
    Sequence last = noneIsLeft ? end : entries.get(progress.lookedAt() - 1).sequence();
    return page(progress.rows(), FeedPosition.after(last), last.equals(end));
  }

  /** How far the database is at the read version; in a shard that was replaced, how far that is. */
  private Optional<Sequence> end() {
    return extent.isReplaced() ? extent.end() : Reads.await(new UpdateSequence(db).read(tx));
  }

  private FeedPage page(int rows, FeedPosition next, boolean reachedEnd) {
    long pending = reachedEnd ? 0 : new PendingEntries(tx, db, extent).behind(next);
    Optional<FeedEnd> end = reachedEnd && !descending ? extent.resharded(next) : Optional.empty();
    return new FeedPage(rows, next, reachedEnd, pending, end);
  }

  private int entriesToRead(long limit) {
    boolean eachIsShown = options.filter() instanceof FeedFilter.None;
    return limit == 0 || eachIsShown
        ? (int) Math.min(limit, limits.rows(options.includeDocs()))
        : limits.rows();
  }

  private List<ChangeEntry> entries(FeedPosition from, int count) {
    EntryReader entries = new EntryReader(tx, db, extent);
    return descending
        ? entries.newest(from.sequence(), count)
        : entries.oldest(from.sequence(), count);
  }

  private PageRows.Progress append(List<ChangeEntry> entries, long limit) {
    return new PageRows(tx, db, options, out, frame, start + limits.bytes()).append(entries, limit);
  }

  private FeedPosition position(
      FeedPosition from, List<ChangeEntry> entries, int lookedAt, boolean reachedEnd) {
    FeedPosition next =
        lookedAt == 0 ? from : from.behind(entries.get(lookedAt - 1).sequence(), lookedAt);
    if (!reachedEnd || descending) {
      return next;
    }
    // Of one shard it is not only the entries that tell how far it has been read.
    return next.atLeast(extent.shard().isPresent() ? end() : extent.end());
  }
}
