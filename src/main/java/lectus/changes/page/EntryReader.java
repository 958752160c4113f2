package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import lectus.changes.filter.Departures;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.derived.StoredFeed;
import lectus.derived.rows.FeedEntriesSubspace;
import lectus.derived.rows.FeedEntriesSubspace.FeedEntry;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Reads the entries of a database, or of one of its shards, in one order at one read version (RFC
 * 018, Backwards Compatibility). A generation's shards are read only while the reader is in it.
 */
public final class EntryReader {
  private static final Comparator<ChangeEntry> OLDEST_FIRST =
      Comparator.comparing(ChangeEntry::sequence);

  /** From this number of generations on, it pays to find out from the counters which are empty. */
  private static final int MANY_GENERATIONS = 3;

  private final ReadTransaction tx;
  private final DatabaseHandle db;
  private final ChangesSubspace changes;
  private final RevisionsSubspace revisions;
  private final FeedExtent extent;
  private final List<StoredFeed> departing;

  /** Null until first needed. */
  private Set<ShardId> filled;

  public EntryReader(ReadTransaction tx, DatabaseHandle db) {
    this(tx, db, FeedExtent.whole(db.topology()), List.of());
  }

  /**
   * @param departing stored feeds of the database: the places where documents have left them are
   *     among the entries
   */
  public EntryReader(ReadTransaction tx, DatabaseHandle db, List<StoredFeed> departing) {
    this(tx, db, FeedExtent.whole(db.topology()), departing);
  }

  EntryReader(ReadTransaction tx, DatabaseHandle db, FeedExtent extent) {
    this(tx, db, extent, List.of());
  }

  EntryReader(
      ReadTransaction tx, DatabaseHandle db, FeedExtent extent, List<StoredFeed> departing) {
    this.departing = departing;
    this.tx = tx;
    this.db = db;
    this.changes = new ChangesSubspace(db);
    this.revisions = new RevisionsSubspace(db);
    this.extent = extent;
  }

  /**
   * Returns the first entries after {@code after}; fewer than {@code count} only if there are no
   * more.
   */
  public List<ChangeEntry> oldest(Optional<Sequence> after, int count) {
    return oldest(after, count, () -> false).entries();
  }

  /** The same, but begins no further generation once time is up. */
  public Stretch oldest(Optional<Sequence> after, int count, BooleanSupplier isTimeUp) {
    Stretch changes = changes(EntryRange.after(after, count), isTimeUp);
    Optional<Sequence> until =
        changes.isFull(count) ? changes.last() : changes.stoppedAt().map(Sequence::predecessor);
    return withDepartures(changes, new EntryRange(after, until, count, false));
  }

  /**
   * Returns the last entries before {@code before}, newest first. Begins no further generation once
   * time is up.
   */
  Stretch newest(Optional<Sequence> before, int count, BooleanSupplier isTimeUp) {
    Optional<Sequence> until = before.map(Sequence::predecessor);
    Stretch changes = changes(new EntryRange(Optional.empty(), until, count, true), isTimeUp);
    Optional<Sequence> after =
        (changes.isFull(count) ? changes.last() : changes.stoppedAt()).map(Sequence::predecessor);
    return withDepartures(changes, new EntryRange(after, until, count, true));
  }

  private Stretch changes(EntryRange wanted, BooleanSupplier isTimeUp) {
    List<Generation> generations =
        filled(wanted.reverse() ? extent.downFrom(wanted.until()) : extent.from(wanted.after()));
    List<ChangeEntry> entries = new ArrayList<>();
    Optional<Generation> read = Optional.empty();
    for (Generation generation : generations) {
      if (read.isPresent() && isTimeUp.getAsBoolean()) {
        Generation later = wanted.reverse() ? read.get() : generation;
        return new Stretch(entries, later.since(), Departures.NONE);
      }
      read = Optional.of(generation);
      entries.addAll(
          new EntryMerge<ChangeEntry>(wanted.first(wanted.limit() - entries.size()))
              .read(parts(shardsOf(generation))));
      if (entries.size() == wanted.limit()) {
        break;
      }
    }
    return new Stretch(entries, Optional.empty(), Departures.NONE);
  }

  /**
   * Adds the places between two sequences where documents have left stored feeds, and drops what is
   * too much then.
   */
  private Stretch withDepartures(Stretch changes, EntryRange wanted) {
    return wanted.limit() == 0 ? changes : merged(changes, readDepartures(wanted), wanted);
  }

  /**
   * Adds such places to the first changes after {@code after} of a database of one shard, without
   * waiting.
   */
  public CompletableFuture<Stretch> withDepartures(
      CompletableFuture<List<ChangeEntry>> changes, Optional<Sequence> after, int count) {
    EntryRange wanted = EntryRange.after(after, count);
    Map<StoredFeed, CompletableFuture<List<FeedEntry>>> reading = readDepartures(wanted);
    return CompletableFuture.allOf(reading.values().toArray(CompletableFuture<?>[]::new))
        .thenCombine(
            changes,
            (all, entries) ->
                merged(new Stretch(entries, Optional.empty(), Departures.NONE), reading, wanted));
  }

  private Map<StoredFeed, CompletableFuture<List<FeedEntry>>> readDepartures(EntryRange wanted) {
    Map<StoredFeed, CompletableFuture<List<FeedEntry>>> reading = new LinkedHashMap<>();
    for (StoredFeed feed : departing) {
      FeedEntriesSubspace entries = new FeedEntriesSubspace(db, feed);
      reading.put(feed, entries.departures(tx, wanted).thenApply(EntryRows::entries));
    }
    return reading;
  }

  private Stretch merged(
      Stretch changes,
      Map<StoredFeed, CompletableFuture<List<FeedEntry>>> reading,
      EntryRange wanted) {
    if (reading.isEmpty()) {
      return changes;
    }
    int count = wanted.limit();
    Comparator<Sequence> order =
        wanted.reverse() ? Comparator.reverseOrder() : Comparator.<Sequence>naturalOrder();
    TreeMap<Sequence, ChangeEntry> merged = new TreeMap<>(order);
    changes.entries().forEach(entry -> merged.put(entry.sequence(), entry));
    Departures departures = new Departures();
    Optional<Sequence> end = Optional.empty();
    for (Map.Entry<StoredFeed, CompletableFuture<List<FeedEntry>>> each : reading.entrySet()) {
      List<FeedEntry> left = Awaiting.await(each.getValue());
      for (FeedEntry entry : left) {
        add(entry.entry(), each.getKey(), merged, departures);
      }
      if (left.size() == count) {
        Sequence last = left.get(count - 1).entry().sequence();
        end = Optional.of(end.filter(it -> order.compare(it, last) < 0).orElse(last));
      }
    }
    Collection<ChangeEntry> known =
        end.<Collection<ChangeEntry>>map(it -> merged.headMap(it, true).values())
            .orElseGet(merged::values);
    return new Stretch(
        known.stream().limit(count).toList(),
        known.size() < count ? end.or(changes::stoppedAt) : Optional.empty(),
        departures);
  }

  private void add(
      ChangeEntry left, StoredFeed feed, Map<Sequence, ChangeEntry> merged, Departures departures) {
    if (extent.includesDeparture(left.docId(), left.sequence())) {
      boolean isAlone = merged.putIfAbsent(left.sequence(), left) == null;
      departures.add(left.sequence(), feed, isAlone);
    }
  }

  private List<EntryMerge.Part<ChangeEntry>> parts(List<ShardId> shards) {
    List<EntryMerge.Part<ChangeEntry>> parts = new ArrayList<>(shards.size());
    for (ShardId shard : shards) {
      parts.add(some -> changes.rows(tx, shard, some));
    }
    return parts;
  }

  List<ShardId> shardsBehind(Optional<Sequence> after) {
    return filled(extent.from(after)).stream().flatMap(it -> shardsOf(it).stream()).toList();
  }

  /** Drops the empty generations if there are many, so that readers need not look into each. */
  private List<Generation> filled(List<Generation> generations) {
    if (generations.size() < MANY_GENERATIONS) {
      return generations;
    }
    if (filled == null) {
      filled = Awaiting.await(DatabaseCounters.filledShards(tx, db));
    }
    return generations.stream().filter(it -> !shardsOf(it).isEmpty()).toList();
  }

  private List<ShardId> shardsOf(Generation generation) {
    List<ShardId> shards = extent.shardsOf(generation);
    return filled == null ? shards : shards.stream().filter(filled::contains).toList();
  }

  /**
   * Returns all entries of some documents after {@code after}. Each document's winning branch has
   * its entry's sequence.
   */
  List<ChangeEntry> ofDocuments(Set<String> ids, Optional<Sequence> after) {
    Map<String, CompletableFuture<Optional<EditBranch>>> winners = new HashMap<>();
    for (String id : ids) {
      winners.put(id, revisions.winner(tx, id));
    }
    List<ChangeEntry> entries = new ArrayList<>();
    winners.forEach(
        (id, winner) ->
            Awaiting.await(winner).map(it -> ChangeEntry.of(id, it)).ifPresent(entries::add));
    entries.removeIf(entry -> after.isPresent() && entry.sequence().compareTo(after.get()) <= 0);
    entries.removeIf(entry -> !extent.includes(entry.docId(), entry.sequence()));
    entries.sort(OLDEST_FIRST);
    return entries;
  }

  /**
   * Consecutive entries in the order in which they were read.
   *
   * @param stoppedAt where to continue if time ran out before the limit: no entry lies between the
   *     last one and this sequence
   * @param departures which of the entries are places where documents have left stored feeds
   */
  public record Stretch(
      List<ChangeEntry> entries, Optional<Sequence> stoppedAt, Departures departures) {

    boolean isFull(int count) {
      return entries.size() == count;
    }

    Optional<Sequence> last() {
      return entries.isEmpty()
          ? Optional.empty()
          : Optional.of(entries.get(entries.size() - 1).sequence());
    }
  }
}
