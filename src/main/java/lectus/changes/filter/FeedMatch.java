package lectus.changes.filter;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.filter.FeedFilter.FeedView;
import lectus.changes.filter.FilterIndex.EntryMatch;
import lectus.changes.filter.FilterIndex.PageTime;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.database.DatabaseHandle;
import lectus.derived.DerivedSet;
import lectus.derived.EditWork;
import lectus.derived.StoredFeed;
import lectus.derived.rows.Belonging;
import lectus.derived.rows.Belonging.Standing;
import lectus.derived.rows.FeedEntriesSubspace;
import lectus.derived.rows.FeedRemovalsSubspace;
import lectus.derived.rows.FeedRemovalsSubspace.Departure;
import lectus.document.read.SelectedDocuments;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Decides which readers of stored feeds see entries of the changes index, in one transaction. For
 * each document it reads once what decides in which channels it is, and finds the readers of these.
 */
final class FeedMatch<V> {
  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final List<OfFeed> feeds = new ArrayList<>();
  private final Map<FeedReaders.OfFeed<V>, StoredFeed> gone = new HashMap<>();
  private final SelectedDocuments documents;
  private final RevisionsSubspace revisions;

  private FeedMatch(
      FeedReaders<V> readers, ReadTransaction tx, DatabaseHandle db, DerivedSet<StoredFeed> known) {
    this.tx = tx;
    this.db = db;
    this.revisions = new RevisionsSubspace(db);
    List<StoredFeed> read = new ArrayList<>();
    readers
        .all()
        .forEach(
            (feed, its) -> {
              if (known.current(feed).isPresent()) {
                read.add(feed);
                feeds.add(new OfFeed(feed, its));
              } else {
                gone.put(its, feed);
              }
            });
    this.documents = new SelectedDocuments(tx, db, DerivedSet.reads(read));
  }

  FeedMatch(FeedReaders<V> readers, ReadTransaction tx, DatabaseHandle db) {
    this(readers, tx, db, db.feeds());
  }

  /** The same, with feeds that the handle may not tell. */
  static <V> FeedMatch<V> of(
      FeedReaders<V> readers, ReadTransaction tx, DatabaseHandle db, List<StoredFeed> feeds) {
    return new FeedMatch<>(readers, tx, db, new DerivedSet<>(feeds));
  }

  /** The readers of one feed. */
  private final class OfFeed {
    private final StoredFeed feed;
    private final FeedReaders.OfFeed<V> readers;
    private final FeedRemovalsSubspace departures;
    private final FeedEntriesSubspace entries;
    private final LaterRows laterRows;

    OfFeed(StoredFeed feed, FeedReaders.OfFeed<V> readers) {
      this.feed = feed;
      this.readers = readers;
      this.departures = new FeedRemovalsSubspace(db, feed);
      this.entries = new FeedEntriesSubspace(db, feed);
      this.laterRows = new LaterRows(tx, db, feed);
    }
  }

  /**
   * An entry whose document is being read.
   *
   * @param winner null if the entry only tells that the document has left
   * @param branches null if there is one leaf
   * @param departures by feed; null where it has not left there
   */
  record Started(
      ChangeEntry entry,
      SelectedDocuments.Started winner,
      CompletableFuture<List<EditBranch>> branches,
      List<CompletableFuture<List<Departure>>> departures) {}

  /** Returns null if nobody reads a stored feed. */
  Started start(ChangeEntry entry, Departures places) {
    if (feeds.isEmpty()) {
      return null;
    }
    List<CompletableFuture<List<Departure>>> departures = new ArrayList<>(feeds.size());
    for (OfFeed each : feeds) {
      departures.add(places.has(entry, each.feed) ? each.departures.all(tx, entry.docId()) : null);
    }
    return places.isAlone(entry)
        ? new Started(entry, null, null, departures)
        : new Started(
            entry,
            documents.start(entry.docId(), entry.deleted(), entry.winner()),
            entry.branchCount() > 1 ? revisions.branches(tx, entry.docId()) : null,
            departures);
  }

  long bytesRead() {
    return documents.bytesRead();
  }

  private record Leaf(RevisionId revision, LeafView view) {}

  /** Matches as if nobody else waited. */
  void finish(Started started, EntryMatch.Outcome<V> outcome) {
    finish(started, Optional.empty(), outcome);
  }

  void tellOfDeleted(EntryMatch.Outcome<V> outcome) {
    gone.forEach(
        (readers, feed) -> {
          LectusException failure = FeedFilter.gone(feed.definition().name());
          readers.views.keySet().forEach(who -> outcome.fails(who, failure));
        });
  }

  /** An unreadable document affects only those who have to see it. */
  void finish(Started started, PageTime time, EntryMatch.Outcome<V> outcome) {
    if (started == null) {
      return;
    }
    try {
      finish(started, Optional.of(time), outcome);
    } catch (RuntimeException unreadable) {
      RuntimeException failure = Awaiting.failureOfData(unreadable);
      feeds.forEach(
          each -> each.readers.views.keySet().forEach(who -> outcome.fails(who, failure)));
    }
  }

  private void finish(Started started, Optional<PageTime> time, EntryMatch.Outcome<V> outcome) {
    List<Leaf> leaves = leaves(started);
    for (int i = 0; i < feeds.size(); i++) {
      OfFeed each = feeds.get(i);
      if (time.isPresent() && time.get().isUp()) {
        each.readers.views.keySet().forEach(outcome::waits);
        continue;
      }
      CompletableFuture<List<Departure>> departures = started.departures.get(i);
      Readers found = new Readers(each, started.entry);
      found.look(leaves);
      if (departures != null) {
        found.departed(Awaiting.await(departures));
      }
      found.tell(outcome, started.winner == null);
    }
  }

  private List<Leaf> leaves(Started started) {
    ChangeEntry entry = started.entry;
    List<Leaf> leaves = new ArrayList<>();
    if (started.winner == null) {
      return leaves;
    }
    leaves.add(new Leaf(entry.winner(), documents.leaves(started.winner)));
    if (started.branches != null) {
      for (EditBranch branch : Awaiting.await(started.branches)) {
        if (!branch.isWinner()) {
          leaves.add(
              new Leaf(
                  branch.leaf(),
                  documents.leaves(
                      documents.start(entry.docId(), branch.deleted(), branch.leaf()))));
        }
      }
    }
    return leaves;
  }

  /** Those who read one of the channels in which a document is, or was. */
  private final class Readers {
    private final OfFeed feed;
    private final ChangeEntry entry;
    private final Map<V, Standing> standings = new HashMap<>();
    private final Map<V, List<RevisionId>> inChannels = new HashMap<>();

    Readers(OfFeed feed, ChangeEntry entry) {
      this.feed = feed;
      this.entry = entry;
    }

    /** Spends no more on the document than its write did. */
    void look(List<Leaf> leaves) {
      List<LeafView> views = leaves.stream().map(Leaf::view).toList();
      Belonging belonging = Belonging.of(feed.feed, views, new EditWork(entry.docId()));
      for (int i = 0; i < belonging.ofEach().size(); i++) {
        Standing standing = i == 0 ? Standing.MEMBER : Standing.BESIDE;
        for (String channel : belonging.ofEach().get(i)) {
          for (V who : feed.readers.ofChannel(channel)) {
            add(who, standing, leaves.get(i).revision());
          }
        }
      }
      if (!standings.isEmpty() && isDecidedByWrite(belonging) && !isInFeed()) {
        standings.clear();
      }
    }

    /** Whether the feed may have refused the document. */
    private boolean isDecidedByWrite(Belonging belonging) {
      boolean isCostly = !belonging.isCertain() || entry.branchCount() > 1;
      return isCostly && feed.feed.isReadable() && !feed.feed.definition().channels().isPresent();
    }

    private boolean isInFeed() {
      return Awaiting.await(feed.entries.contains(tx, StoredFeed.ONLY, entry.sequence()));
    }

    private void add(V who, Standing standing, RevisionId revision) {
      standings.merge(who, standing, Standing::or);
      List<RevisionId> known = inChannels.computeIfAbsent(who, none -> new ArrayList<>(1));
      if (!known.contains(revision)) {
        known.add(revision);
      }
    }

    void departed(List<Departure> departures) {
      for (Departure departure : departures) {
        if (departure.sequence().equals(entry.sequence())) {
          for (V who : feed.readers.ofChannel(departure.channel())) {
            standings.merge(who, Standing.LEFT, Standing::or);
          }
        }
      }
    }

    /**
     * @param mayFollow whether the document may have a later row
     */
    void tell(EntryMatch.Outcome<V> outcome, boolean mayFollow) {
      standings.forEach(
          (who, standing) -> {
            FeedView view = feed.readers.views.get(who);
            view.row(entry, standing, Optional.ofNullable(inChannels.get(who)))
                .filter(row -> !(mayFollow && feed.laterRows.follow(entry, view)))
                .ifPresent(row -> outcome.passes(who, row));
          });
    }
  }

  /**
   * Finds the readers of stored feeds by channel: those of other channels cost nothing. Not
   * thread-safe.
   */
  static final class FeedReaders<V> {
    private final Map<StoredFeed, OfFeed<V>> feeds = new HashMap<>();

    /** The readers of one feed. */
    static final class OfFeed<V> {
      private final Map<V, FeedView> views = new HashMap<>();
      private final Map<String, List<V>> byChannel = new HashMap<>();

      /** Number of readers who are told of documents that leave. */
      private int told;

      List<V> ofChannel(String channel) {
        return byChannel.getOrDefault(channel, List.of());
      }

      boolean tellsOfDepartures() {
        return told > 0;
      }

      private void add(V who, FeedView view) {
        views.put(who, view);
        view.channels()
            .forEach(it -> byChannel.computeIfAbsent(it, none -> new ArrayList<>(1)).add(who));
        told += view.tellsOfDepartures() ? 1 : 0;
      }

      private void remove(V who) {
        FeedView view = views.remove(who);
        if (view == null) {
          return; // it was not completely added
        }
        told -= view.tellsOfDepartures() ? 1 : 0;
        for (String channel : view.channels()) {
          byChannel.computeIfPresent(
              channel,
              (same, others) -> {
                others.remove(who);
                return others.isEmpty() ? null : others;
              });
        }
      }
    }

    void add(V who, FeedFilter.OfFeed filter, boolean allLeaves) {
      feeds
          .computeIfAbsent(filter.feed().orElseThrow(), none -> new OfFeed<>())
          .add(who, new FeedView(filter, allLeaves));
    }

    void remove(V who, FeedFilter.OfFeed filter) {
      feeds.computeIfPresent(
          filter.feed().orElseThrow(),
          (same, readers) -> {
            readers.remove(who);
            return readers.views.keySet().isEmpty() ? null : readers;
          });
    }

    Map<StoredFeed, OfFeed<V>> all() {
      return feeds;
    }
  }
}
