package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.FeedMatch.FeedReaders;
import lectus.changes.filter.PassingEntries.Passing;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.derived.SelectorIndex;
import lectus.derived.StoredFeed;
import lectus.document.DocumentId;
import lectus.document.read.SelectedDocuments;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Finds which of many filters accept an entry. Filters by id are found by the entry's id, selectors
 * by the values they require, readers of stored feeds by the channels in which the document is. So
 * filters that do not accept the entry cost little or nothing. What a function does not accept is
 * left out later. Not thread-safe.
 */
public final class FilterIndex<V> {
  private final Set<V> all = new LinkedHashSet<>();
  private final Set<V> design = new LinkedHashSet<>();
  private final Map<String, List<V>> byId = new HashMap<>();
  private final SelectorIndex<V> selectors = new SelectorIndex<>();

  private final FeedReaders<V> feeds = new FeedReaders<>();

  /** The selectors that match all leaves of a document. */
  private final Set<V> ofAllLeaves = new LinkedHashSet<>();

  /**
   * @param allLeaves whether every leaf of a document is shown; a selector then matches each leaf
   */
  public void add(V who, FeedFilter filter, boolean allLeaves) {
    if (filter instanceof FeedFilter.None || filter instanceof FunctionFilter) {
      all.add(who);
    } else if (filter instanceof FeedFilter.DesignDocuments) {
      design.add(who);
    } else if (filter instanceof FeedFilter.DocumentIds some) {
      some.ids().forEach(id -> byId.computeIfAbsent(id, absent -> new ArrayList<>(1)).add(who));
    } else if (filter instanceof FeedFilter.Selected some) {
      selectors.add(who, some.selector());
      if (allLeaves) {
        ofAllLeaves.add(who);
      }
    } else if (filter instanceof FeedFilter.OfFeed some) {
      feeds.add(who, some, allLeaves);
    }
  }

  /**
   * @param filter the filter with which it was added
   */
  public void remove(V who, FeedFilter filter) {
    all.remove(who);
    design.remove(who);
    ofAllLeaves.remove(who);
    if (filter instanceof FeedFilter.DocumentIds some) {
      some.ids().forEach(id -> byId.computeIfPresent(id, (same, others) -> without(who, others)));
    } else if (filter instanceof FeedFilter.Selected) {
      selectors.remove(who);
    } else if (filter instanceof FeedFilter.OfFeed some) {
      feeds.remove(who, some);
    }
  }

  private static <V> List<V> without(V who, List<V> some) {
    some.remove(who);
    return some.isEmpty() ? null : some;
  }

  /** Examines entries of a database in one transaction, with the current filters. */
  public EntryMatch<V> in(ReadTransaction tx, DatabaseHandle db) {
    return new EntryMatch<>(this, tx, db);
  }

  /** Returns the stored feeds of a database of whose departures somebody is told. */
  public List<StoredFeed> departing(DatabaseHandle db) {
    List<StoredFeed> departing = new ArrayList<>();
    feeds
        .all()
        .forEach(
            (feed, readers) -> {
              if (db.feeds().current(feed).isPresent() && readers.tellsOfDepartures()) {
                departing.add(feed);
              }
            });
    return departing;
  }

  List<V> byId(String docId) {
    List<V> found = new ArrayList<>(all);
    if (DocumentId.isDesign(docId)) {
      found.addAll(design);
    }
    found.addAll(byId.getOrDefault(docId, List.of()));
    return found;
  }

  FeedReaders<V> feeds() {
    return feeds;
  }

  SelectorIndex<V> selectors() {
    return selectors;
  }

  boolean anyOfAllLeaves() {
    return !ofAllLeaves.isEmpty();
  }

  /**
   * Decides which filters of a {@link FilterIndex} accept entries, in one transaction. For each
   * document it reads once what any of their selectors needs.
   */
  public static final class EntryMatch<V> {
    private final FilterIndex<V> filters;
    private final ReadTransaction tx;
    private final SelectedDocuments documents;
    private final RevisionsSubspace revisions;
    private final FeedMatch<V> feeds;
    private final PageTime time = new PageTime();

    /** Receives the result for an entry. */
    public interface Outcome<V> {
      void passes(V who, Passing row);

      /** It cannot be determined whether the entry passes. */
      void fails(V who, Throwable failure);

      /** Matching took too long. */
      void waits(V who);
    }

    EntryMatch(FilterIndex<V> filters, ReadTransaction tx, DatabaseHandle db) {
      this.filters = filters;
      this.tx = tx;
      this.documents = new SelectedDocuments(tx, db, filters.selectors().reads());
      this.revisions = new RevisionsSubspace(db);
      this.feeds = new FeedMatch<>(filters.feeds(), tx, db);
    }

    /**
     * An entry for which the leaves that selectors need are being read.
     *
     * @param isAlone whether it only tells that a document has left stored feeds
     * @param winner null if no selector has to see it
     * @param branches null if only the winner is matched
     * @param feeds null if nobody reads a stored feed
     */
    public record Started(
        ChangeEntry entry,
        boolean isAlone,
        SelectedDocuments.Started winner,
        CompletableFuture<List<EditBranch>> branches,
        FeedMatch.Started feeds) {}

    public Started start(ChangeEntry entry, Departures departures) {
      FeedMatch.Started ofFeeds = feeds.start(entry, departures);
      boolean isAlone = departures.isAlone(entry);
      if (isAlone || filters.selectors().isEmpty()) {
        return new Started(entry, isAlone, null, null, ofFeeds);
      }
      boolean allLeaves = filters.anyOfAllLeaves() && entry.branchCount() > 1;
      return new Started(
          entry,
          false,
          documents.start(entry.docId(), entry.deleted(), entry.winner()),
          allLeaves ? revisions.branches(tx, entry.docId()) : null,
          ofFeeds);
    }

    /** Whether so much was read that another transaction should continue. */
    public boolean isSpent() {
      return time.isUp() || documents.bytesRead() + feeds.bytesRead() >= SelectedEntries.MAX_BYTES;
    }

    /**
     * Tells those who read a stored feed that has been deleted, whether there are entries or not.
     */
    public void tellOfDeletedFeeds(Outcome<V> outcome) {
      feeds.tellOfDeleted(outcome);
    }

    /** An unreadable document affects only those who have to see it. */
    public void finish(Started started, Outcome<V> outcome) {
      ChangeEntry entry = started.entry();
      Passing whole = new Passing(entry, Optional.empty());
      if (!started.isAlone()) {
        filters.byId(entry.docId()).forEach(who -> outcome.passes(who, whole));
      }
      feeds.finish(started.feeds(), time, outcome);
      if (started.winner() == null) {
        return;
      }
      try {
        finishSelectors(started, outcome);
      } catch (RuntimeException unreadable) {
        RuntimeException failure = Awaiting.failureOfData(unreadable);
        filters.selectors().all().forEach(who -> outcome.fails(who, failure));
      }
    }

    private void finishSelectors(Started started, Outcome<V> outcome) {
      ChangeEntry entry = started.entry();
      boolean branched = started.branches() != null;
      LeafView winner = documents.leaves(started.winner());
      filters
          .selectors()
          .candidates(
              winner,
              who -> {
                if (!(branched && filters.ofAllLeaves.contains(who))) {
                  match(
                      who,
                      entry.docId(),
                      winner,
                      outcome,
                      () -> outcome.passes(who, new Passing(entry, Optional.empty())));
                }
              });
      if (branched) {
        matchBranches(entry, Awaiting.await(started.branches()), outcome);
      }
    }

    private void matchBranches(ChangeEntry entry, List<EditBranch> branches, Outcome<V> outcome) {
      Map<V, List<RevisionId>> passing = new LinkedHashMap<>();
      for (EditBranch branch : branches) {
        LeafView leaf =
            documents.leaves(documents.start(entry.docId(), branch.deleted(), branch.leaf()));
        filters
            .selectors()
            .candidates(
                leaf,
                who -> {
                  if (filters.ofAllLeaves.contains(who)) {
                    match(
                        who,
                        entry.docId(),
                        leaf,
                        outcome,
                        () ->
                            passing
                                .computeIfAbsent(who, none -> new ArrayList<>())
                                .add(branch.leaf()));
                  }
                });
      }
      passing.forEach(
          (who, leaves) -> outcome.passes(who, new Passing(entry, Optional.of(leaves))));
    }

    /** The cost or failure of one selector does not affect the others. */
    private void match(
        V who, String docId, LeafView document, Outcome<V> outcome, Runnable matches) {
      if (time.isUp()) {
        outcome.waits(who);
        return;
      }
      try {
        Optional<Boolean> known = filters.selectors().selector(who).matchesSoon(document, docId);
        if (known.isEmpty()) {
          outcome.waits(who);
        } else if (known.get()) {
          matches.run();
        }
      } catch (Throwable failure) {
        outcome.fails(who, failure);
      }
    }
  }

  /**
   * Limits the time that one transaction reads for a page before it leaves the rest to the next:
   * far below the five seconds that it has, however slow the store is.
   */
  public static final class PageTime {
    private static final Duration MOST = Duration.ofMillis(1_500);

    private final long startNanos = System.nanoTime();
    private final Duration most;

    public PageTime() {
      this(MOST);
    }

    /** Sets less than the usual time, where others wait for the thread. */
    public PageTime(Duration most) {
      this.most = most;
    }

    public boolean isUp() {
      return System.nanoTime() - startNanos > most.toNanos();
    }
  }
}
