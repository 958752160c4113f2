package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import lectus.changes.filter.Departures;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.filter.StoredEntries;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.log.PurgesSubspace;
import lectus.changes.log.UpdateSequence;
import lectus.changes.page.EntryReader.Stretch;
import lectus.changes.page.PageReader.EntryShow;
import lectus.changes.page.PageReader.FeedPage;
import lectus.database.DatabaseHandle;
import lectus.database.SecurityObject;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.derived.StoredFeed;
import lectus.derived.rows.FeedEntriesSubspace;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.document.RowParts.PageLimits;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * Reads one page of a feed in one transaction: from the changes index, or from a stored feed. That
 * costs what the page has, however many changes the database has beside.
 */
final class PageReader {
  /**
   * Up to this number, documents are looked up one by one instead of being sought among all
   * entries.
   */
  private static final int DOCUMENTS_LOOKED_UP = 100;

  /** Some entries of a stored feed, or those that a function is asked about, may not be shown. */
  private static final int MIN_READ = 16;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final Optional<ShardId> shard;
  private final FeedExtent extent;
  private final FeedOptions options;
  private final boolean descending;
  private final PageLimits limits;
  private final PageTime time = new PageTime();

  /**
   * @param shard the only one to read; empty for all
   * @param options as they are in the database
   * @param descending newest first
   */
  PageReader(
      ReadTransaction tx,
      DatabaseHandle db,
      Optional<ShardId> shard,
      FeedOptions options,
      boolean descending,
      PageLimits limits) {
    this.tx = tx;
    this.db = db;
    this.shard = shard;
    this.extent = FeedExtent.of(db.topology(), shard);
    this.options = options;
    this.descending = descending;
    this.limits = limits;
  }

  FeedPage read(PageRows rows, FeedPosition from, long limit) {
    Optional<FeedView> stored = shard.isEmpty() ? options.storedFeed() : Optional.empty();
    return stored.isPresent()
        ? readStored(stored.get(), rows, from, limit)
        : read(rows::append, options.departing(), from, limit);
  }

  /**
   * Reads from the changes index.
   *
   * @param departing the stored feeds of whose departures somebody is told
   */
  FeedPage read(EntryShow show, List<StoredFeed> departing, FeedPosition from, long limit) {
    int count = entriesToRead(limit);
    Supplier<Optional<Sequence>> lastPurge = lastPurge();
    // One more entry tells whether the page reached the end.
    Stretch stretch = entries(departing, from, count + 1);
    List<ChangeEntry> read = stretch.entries();
    if (read.size() > count && limit > 0 && isForFewDocuments()) {
      return readDocuments(show, from, limit);
    }
    List<ChangeEntry> entries = read.subList(0, Math.min(count, read.size()));
    PageRows.Progress progress = show.append(entries, stretch.departures(), limit);
    boolean lookedAtAll = progress.lookedAt() == read.size();
    boolean reachedEnd = lookedAtAll && stretch.stoppedAt().isEmpty();
    FeedPosition next =
        position(from, entries.subList(0, progress.lookedAt()), stretch.departures());
    if (reachedEnd && !descending) {
      next = atEnd(next, lastPurge);
    }
    if (lookedAtAll && stretch.stoppedAt().isPresent()) {
      next = new FeedPosition(stretch.stoppedAt(), next.entriesLookedAt(), from.known());
    }
    return page(progress.rows(), next, reachedEnd);
  }

  private FeedPage readStored(FeedView view, PageRows rows, FeedPosition from, long limit) {
    int count = (int) Math.min(limits.rows(), Math.max(MIN_READ, limit));
    // One more entry tells whether the page reached the end.
    List<FeedEntry> read = limit == 0 ? List.of() : merge(from, count + 1).read(parts(view));
    List<FeedEntry> entries = read.subList(0, Math.min(count, read.size()));
    PageRows.Progress progress = rows.append(new StoredEntries(tx, db, view, entries), limit);
    boolean reachedEnd = limit > 0 && progress.lookedAt() == read.size();
    FeedPosition next =
        progress.lookedAt() == 0
            ? from
            : from.movedTo(entries.get(progress.lookedAt() - 1).entry().sequence());
    return new FeedPage(
        progress.rows(),
        reachedEnd && !descending ? next.atLeast(updateSequence()) : next,
        reachedEnd,
        reachedEnd ? 0 : LivePage.NOT_COUNTED,
        Optional.empty());
  }

  private List<EntryMerge.Part<FeedEntry>> parts(FeedView view) {
    FeedEntriesSubspace entries = new FeedEntriesSubspace(db, view.feed());
    List<EntryMerge.Part<FeedEntry>> parts = new ArrayList<>();
    for (String channel : view.channels()) {
      parts.add(part(entries, new FeedEntriesSubspace.Part(channel, false)));
      if (view.filter().left()) {
        parts.add(part(entries, new FeedEntriesSubspace.Part(channel, true)));
      }
    }
    return parts;
  }

  private EntryMerge.Part<FeedEntry> part(
      FeedEntriesSubspace entries, FeedEntriesSubspace.Part part) {
    return some -> entries.read(tx, part, some);
  }

  /** A document that is in several channels has one entry. */
  private EntryMerge<FeedEntry> merge(FeedPosition from, int count) {
    EntryRange wanted =
        descending
            ? new EntryRange(
                Optional.empty(), from.sequence().map(Sequence::predecessor), count, true)
            : EntryRange.after(from.sequence(), count);
    return new EntryMerge<>(wanted, Optional.of(FeedEntry::and));
  }

  /** Nothing of the database up to here is missing. */
  private Optional<Sequence> updateSequence() {
    return Awaiting.await(new UpdateSequence(db).read(tx));
  }

  private boolean isForFewDocuments() {
    return !descending
        && options.filter() instanceof FeedFilter.DocumentIds some
        && some.ids().size() <= DOCUMENTS_LOOKED_UP;
  }

  /** Reads the rest of the feed, up to the limit, when only some documents are to be shown. */
  private FeedPage readDocuments(EntryShow show, FeedPosition from, long limit) {
    Set<String> ids = ((FeedFilter.DocumentIds) options.filter()).ids();
    List<ChangeEntry> entries = new EntryReader(tx, db, extent).ofDocuments(ids, from.sequence());
    PageRows.Progress progress = show.append(entries, Departures.NONE, limit);
    boolean noneIsLeft = progress.lookedAt() == entries.size() && progress.rows() < limit;
    Sequence end = end().orElseThrow();
    Sequence last = noneIsLeft ? end : entries.get(progress.lookedAt() - 1).sequence();
    return page(progress.rows(), FeedPosition.after(last), last.equals(end));
  }

  /**
   * Returns the database's last position at the read version; for a replaced shard, the shard's.
   */
  private Optional<Sequence> end() {
    if (extent.isReplaced()) {
      return extent.end();
    }
    return extent.isOneOfSeveral() ? Optional.of(readVersion()) : updateSequence();
  }

  /**
   * Returns a sequence after every entry that the transaction sees, in any shard, and before all
   * later ones. So a reader of one shard need not look at the others.
   */
  private Sequence readVersion() {
    Versionstamp at = Versionstamp.upTo(Awaiting.await(tx.getReadVersion()));
    return new Sequence(db.incarnation(), at.bytes());
  }

  private FeedPage page(int rows, FeedPosition next, boolean reachedEnd) {
    long pending = reachedEnd ? 0 : LivePage.NOT_COUNTED;
    Optional<FeedEnd> end = reachedEnd && !descending ? extent.resharded(next) : Optional.empty();
    return new FeedPage(rows, next, reachedEnd, pending, end);
  }

  private int entriesToRead(long limit) {
    if (options.filter() instanceof FunctionFilter) {
      return (int) Math.min(limit == 0 ? 0 : Math.max(MIN_READ, limit), AskedDocuments.MOST);
    }
    boolean eachIsShown = options.filter() instanceof FeedFilter.None;
    return limit == 0 || eachIsShown
        ? (int) Math.min(limit, limits.rows(options.hasBodies()))
        : limits.rows();
  }

  private Stretch entries(List<StoredFeed> departing, FeedPosition from, int count) {
    EntryReader entries = new EntryReader(tx, db, extent, departing);
    return descending
        ? entries.newest(from.sequence(), count, time::isUp)
        : entries.oldest(from.sequence(), count, time::isUp);
  }

  private static FeedPosition position(
      FeedPosition from, List<ChangeEntry> lookedAt, Departures departures) {
    if (lookedAt.isEmpty()) {
      return from;
    }
    int changes = (int) lookedAt.stream().filter(it -> !departures.isAlone(it)).count();
    return from.behind(lookedAt.get(lookedAt.size() - 1).sequence(), changes);
  }

  /**
   * A reader of one of several shards that has read everything stands at the read version, not at
   * its shard's last entry. A reader of all stands no lower than the last purge: else its position
   * would fall when the document that it was shown last is purged.
   */
  private FeedPosition atEnd(FeedPosition next, Supplier<Optional<Sequence>> lastPurge) {
    return extent.isOneOfSeveral()
        ? next.atLeast(end())
        : next.atLeast(extent.end()).atLeast(lastPurge.get());
  }

  /** Reads the place of the last purge beside the entries. A replaced shard has ended before. */
  private Supplier<Optional<Sequence>> lastPurge() {
    if (descending || extent.isReplaced() || extent.isOneOfSeveral()) {
      return Optional::empty;
    }
    CompletableFuture<Optional<Sequence>> reading = new PurgesSubspace(db).last(tx);
    return () -> Awaiting.await(reading);
  }

  /**
   * One page of a feed, read at one read version.
   *
   * @param next where to continue: after the last entry examined, whether it passed the filter or
   *     not
   * @param reachedEnd whether nothing followed at the page's read version
   * @param pending number of entries that followed: 0 exactly if there were none; exact for a
   *     reader that came from the beginning, and near the end; otherwise an estimate; {@link
   *     lectus.changes.page.LivePage#NOT_COUNTED} unless it is shown
   * @param end why nothing will ever follow; empty as long as something may
   */
  record FeedPage(
      int rows, FeedPosition next, boolean reachedEnd, long pending, Optional<FeedEnd> end) {

    LivePage<FeedPosition> of(Rows<FeedPosition> shown, SecurityObject readers) {
      return new LivePage<>(shown, next, reachedEnd, pending, end, readers);
    }

    FeedPage counted(PendingEntries entries) {
      return reachedEnd ? this : new FeedPage(rows, next, false, entries.behind(next), end);
    }
  }

  /**
   * The first page of a feed.
   *
   * @param end the database's last position at the page's read version
   */
  record FirstPage(FeedPage page, FeedPosition end) {}

  @FunctionalInterface
  interface EntryShow {

    /**
     * Shows or skips entries until {@code limit} rows were shown, the page is full, or all entries
     * were examined; at least one, if the limit allows.
     */
    PageRows.Progress append(List<ChangeEntry> entries, Departures departures, long limit);
  }
}
