package lectus.feed.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import lectus.changes.UpdateSequence;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.document.PageLimits;
import lectus.document.feed.FeedEntriesSubspace;
import lectus.document.feed.FeedEntry;
import lectus.feed.LivePage;
import lectus.feed.filter.FeedView;
import lectus.feed.filter.StoredEntries;
import lectus.store.Awaiting;

/**
 * Reads one page of a stored feed in one transaction. It costs what the page has, however many
 * changes the database has beside.
 */
final class StoredPage {
  /** Some entries may not be shown. */
  private static final int LEAST_READ = 16;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final FeedView view;
  private final boolean descending;
  private final PageLimits limits;
  private final PageRows rows;

  StoredPage(
      ReadTransaction tx,
      DatabaseHandle db,
      FeedView view,
      boolean descending,
      PageLimits limits,
      PageRows rows) {
    this.tx = tx;
    this.db = db;
    this.view = view;
    this.descending = descending;
    this.limits = limits;
    this.rows = rows;
  }

  FeedPage read(FeedPosition from, long limit) {
    int count = (int) Math.min(limits.rows(), Math.max(LEAST_READ, limit));
    // One more entry tells whether the page reached the end.
    List<FeedEntry> read = limit == 0 ? List.of() : merge(from).read(parts(), count + 1);
    List<FeedEntry> entries = read.subList(0, Math.min(count, read.size()));
    PageRows.Progress progress = rows.append(new StoredEntries(tx, db, view, entries), limit);
    boolean reachedEnd = limit > 0 && progress.lookedAt() == read.size();
    FeedPosition next =
        progress.lookedAt() == 0
            ? from
            : FeedPosition.after(entries.get(progress.lookedAt() - 1).entry().sequence());
    return new FeedPage(
        progress.rows(),
        reachedEnd && !descending ? next.atLeast(end()) : next,
        reachedEnd,
        reachedEnd ? 0 : LivePage.NOT_COUNTED,
        Optional.empty());
  }

  private List<EntryMerge.Part<FeedEntry>> parts() {
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
    return (after, until, count, reverse) -> entries.read(tx, part, after, until, count, reverse);
  }

  /** A document that is in several channels has one entry. */
  private EntryMerge<FeedEntry> merge(FeedPosition from) {
    Optional<Sequence> none = Optional.empty();
    Optional<BinaryOperator<FeedEntry>> union = Optional.of(FeedEntry::and);
    return descending
        ? new EntryMerge<>(none, from.sequence().map(Sequence::predecessor), true, union)
        : new EntryMerge<>(from.sequence(), none, false, union);
  }

  /** Nothing of the database up to here is missing. */
  private Optional<Sequence> end() {
    return Awaiting.await(new UpdateSequence(db).read(tx));
  }
}
