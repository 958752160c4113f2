package lectus.view;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.EntryRows.EntryRange;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Gone;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.DocumentId;
import lectus.document.ReadAhead;
import lectus.document.read.MappedDocuments;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.script.Outcome;
import lectus.store.Awaiting;
import lectus.view.BuildTasks.OfShard;
import lectus.view.ViewRows.Place;
import lectus.view.ViewRows.Refusal;
import lectus.view.ViewRows.Refused;

/**
 * Documents that an index has to look at: first what there is of them, and what the index has of
 * them, is read in one transaction; then, without one, they are mapped. Both take as many as there
 * is room and time for.
 */
final class DueDocuments {
  /** Documents that are mapped together before it is known how much they emit. */
  private static final int FIRST_MAPPED = 64;

  private static final int MAX_MAPPED = 1_024;

  /** Documents whose places are read together before it is known how many they have. */
  private static final int FIRST_PLACES = 8;

  /** How long maps run before what they have made is written, however slow they are. */
  static final long MAPPING_NANOS = 2_000_000_000;

  /** Refused documents that are told from others. If there are more, any may be one. */
  static final int REFUSED = 100;

  private final ViewDefinition definition;
  private final long number;
  private final ViewFunctions functions;
  private final int mostBytes;
  private final ReadAhead ahead;
  private volatile long mapped;

  /**
   * @param number of the index
   * @param mostBytes target size of the documents that are read together, of their places, and of
   *     their rows
   */
  DueDocuments(ViewDefinition definition, long number, ViewFunctions functions, int mostBytes) {
    this.definition = definition;
    this.number = number;
    this.functions = functions;
    this.mostBytes = mostBytes;
    this.ahead = new ReadAhead(FIRST_MAPPED, MAX_MAPPED, mostBytes / 3);
  }

  long mapped() {
    return mapped;
  }

  /**
   * An entry of the changes index, or a document that is gone.
   *
   * @param entry empty: it is gone
   */
  record Entry(String id, Sequence at, Optional<ChangeEntry> entry) {
    private static Entry of(ChangeEntry entry) {
      return new Entry(entry.docId(), entry.sequence(), Optional.of(entry));
    }

    private static Entry of(Gone gone) {
      return new Entry(gone.docId(), gone.sequence(), Optional.empty());
    }

    /** Returns a document as it is now. */
    static Entry of(String id, Sequence at, Optional<EditBranch> winner) {
      return new Entry(
          id,
          at,
          winner.map(
              it ->
                  new ChangeEntry(
                      it.winner().sequence(),
                      id,
                      it.leaf(),
                      it.deleted(),
                      it.winner().branchCount())));
    }
  }

  /**
   * The oldest entries behind a sequence, in order.
   *
   * @param to up to where these are all
   * @param isAll whether nothing is left behind {@code to}
   */
  record Entries(List<Entry> all, Sequence to, boolean isAll) {
    /** Reads those of all changes shards, and of what is gone. */
    static Entries read(
        ReadTransaction tx, DatabaseHandle db, Optional<Sequence> after, Sequence now, int most) {
      List<ShardId> shards =
          db.topology().from(after).stream().flatMap(it -> it.shards().stream()).toList();
      // Shards have about as many entries each; two of them are read for one that is wanted.
      int each = Math.max(1, Math.min(most, 2 * most / shards.size()));
      ChangesSubspace changes = new ChangesSubspace(db);
      List<CompletableFuture<List<Entry>>> reading = new ArrayList<>();
      for (ShardId shard : shards) {
        reading.add(
            changes
                .read(tx, shard, EntryRange.after(after, each))
                .thenApply(some -> some.stream().map(Entry::of).toList()));
      }
      reading.add(
          new GoneSubspace(db)
              .after(tx, after, each)
              .thenApply(some -> some.stream().map(Entry::of).toList()));
      Sequence to = now;
      List<Entry> all = new ArrayList<>();
      for (CompletableFuture<List<Entry>> shard : reading) {
        List<Entry> some = Awaiting.await(shard);
        all.addAll(some);
        Sequence last = some.size() < each ? now : some.get(each - 1).at();
        to = last.compareTo(to) < 0 ? last : to;
      }
      return cut(all, to, to.equals(now), most);
    }

    private static Entries cut(List<Entry> all, Sequence to, boolean isAll, int most) {
      List<Entry> sorted =
          all.stream()
              .filter(it -> it.at().compareTo(to) <= 0)
              .sorted(Comparator.comparing(Entry::at))
              .toList();
      return sorted.size() > most
          ? new Entries(sorted.subList(0, most), sorted.get(most - 1).at(), false)
          : new Entries(sorted, to, isAll);
    }

    static Entries ofShard(
        ReadTransaction tx, DatabaseHandle db, OfShard of, Sequence now, int most) {
      List<Entry> all =
          Awaiting.await(
                  new ChangesSubspace(db).read(tx, of.shard(), EntryRange.after(of.last(), most)))
              .stream()
              .map(Entry::of)
              .toList();
      return all.size() < most
          ? new Entries(all, now, true)
          : new Entries(all, all.get(most - 1).at(), false);
    }

    /**
     * Reads documents that were purged while tasks ran. A task may have read one before it was
     * purged, and written its rows afterwards. One that was written again is looked at as it is.
     */
    static Entries gone(
        ReadTransaction tx, DatabaseHandle db, Optional<Sequence> after, Sequence until, int most) {
      List<Gone> within =
          Awaiting.await(new GoneSubspace(db).after(tx, after, most)).stream()
              .filter(it -> it.sequence().compareTo(until) <= 0)
              .toList();
      RevisionsSubspace revisions = new RevisionsSubspace(db);
      List<CompletableFuture<Optional<EditBranch>>> winners =
          within.stream().map(it -> revisions.winner(tx, it.docId())).toList();
      List<Entry> all = new ArrayList<>();
      for (int i = 0; i < within.size(); i++) {
        Gone gone = within.get(i);
        all.add(Entry.of(gone.docId(), gone.sequence(), Awaiting.await(winners.get(i))));
      }
      boolean isAll = within.size() < most;
      return new Entries(all, isAll ? until : all.get(all.size() - 1).at(), isAll);
    }
  }

  /**
   * A document to look at.
   *
   * @param json empty: it has no rows
   * @param had its places so far
   * @param mayBeRefused whether the index may say why it has none
   */
  record Due(
      String id, Sequence at, Optional<byte[]> json, List<Place> had, boolean mayBeRefused) {}

  /**
   * What was read together.
   *
   * @param isAll whether nothing is left behind {@code to}
   */
  record Batch(List<Due> due, Sequence to, boolean isAll) {
    /** Returns the part of it of which all was mapped. */
    Batch upTo(List<Mapped> mapped) {
      Set<String> ids = new HashSet<>();
      due.forEach(it -> ids.add(it.id()));
      return mapped.size() == ids.size()
          ? this
          : new Batch(due, mapped.get(mapped.size() - 1).due().at(), false);
    }
  }

  /**
   * Reads what there is of the documents of entries, and what the index has of them.
   *
   * @param untouched up to where the index has nothing of them; empty: it may have of all
   */
  Batch read(ReadTransaction tx, DatabaseHandle db, Entries entries, Optional<Sequence> untouched) {
    MappedDocuments documents = new MappedDocuments(tx, db, definition.localSeq(), mostBytes);
    ViewRows rows = rows(db);
    List<Optional<byte[]>> bodies =
        documents.read(
            entries.all().stream().map(entry -> entry.entry().filter(this::isMapped)).toList());
    List<List<Place>> had = had(tx, rows, entries.all().subList(0, bodies.size()), untouched);
    Set<String> refused =
        rows.refused(tx, REFUSED).stream().map(Refused::docId).collect(Collectors.toSet());
    List<Due> due = new ArrayList<>();
    for (int i = 0; i < had.size(); i++) {
      Entry entry = entries.all().get(i);
      boolean mayBeRefused = refused.size() == REFUSED || refused.contains(entry.id());
      due.add(new Due(entry.id(), entry.at(), bodies.get(i), had.get(i), mayBeRefused));
    }
    boolean isCut = due.size() < entries.all().size();
    Sequence to = isCut ? due.get(due.size() - 1).at() : entries.to();
    return new Batch(due, to, entries.isAll() && !isCut);
  }

  private boolean isMapped(ChangeEntry entry) {
    return !entry.deleted() && (definition.includeDesign() || !DocumentId.isDesign(entry.docId()));
  }

  /** Returns the places of the first ones, as many as there is room for. */
  private List<List<Place>> had(
      ReadTransaction tx, ViewRows rows, List<Entry> entries, Optional<Sequence> untouched) {
    ReadAhead ahead = new ReadAhead(FIRST_PLACES, MAX_MAPPED, mostBytes / 3);
    List<List<Place>> had = new ArrayList<>();
    long bytes = 0;
    while (had.size() < entries.size()) {
      int from = had.size();
      List<CompletableFuture<List<Place>>> window =
          entries.subList(from, Math.min(entries.size(), from + ahead.size())).stream()
              .map(
                  entry ->
                      untouched.filter(it -> entry.at().compareTo(it) <= 0).isPresent()
                          ? CompletableFuture.completedFuture(List.<Place>of())
                          : rows.places(tx, entry.id()))
              .toList();
      long before = bytes;
      for (CompletableFuture<List<Place>> each : window) {
        List<Place> places = Awaiting.await(each);
        bytes += bytes(places);
        if (bytes > mostBytes && !had.isEmpty()) {
          return had;
        }
        had.add(places);
      }
      ahead.took(window.size(), bytes - before);
    }
    return had;
  }

  private static long bytes(List<Place> places) {
    long bytes = 0;
    for (Place place : places) {
      bytes += place.key().length;
    }
    return bytes;
  }

  /** What a document has in the views from now on. */
  record Mapped(Due due, EmittedRows emitted) {
    Mapped after(Refusal former) {
      return new Mapped(
          due, new EmittedRows(emitted.views(), emitted.refused().map(it -> it.after(former))));
    }
  }

  /**
   * Runs the maps, for as many documents as a transaction has room for and some time, but one at
   * least. Of a document that occurs twice only the later entry counts.
   */
  List<Mapped> map(DatabaseHandle db, List<Due> due, int mostRows) {
    Map<String, Due> latest = new LinkedHashMap<>();
    for (Due each : due) {
      if (each.json().isPresent() || !latest.containsKey(each.id())) {
        latest.remove(each.id());
        latest.put(each.id(), each);
      }
    }
    List<Due> all = List.copyOf(latest.values());
    List<Mapped> done = new ArrayList<>();
    Room room = new Room(mostRows, mostBytes);
    long end = System.nanoTime() + MAPPING_NANOS;
    while (done.size() < all.size() && (done.isEmpty() || System.nanoTime() - end < 0)) {
      int to = Math.min(all.size(), done.size() + ahead.size());
      long left = Math.max(0, end - System.nanoTime());
      for (Mapped each : mapped(rows(db), all.subList(done.size(), to), left)) {
        if (!room.takes(each)) {
          return done;
        }
        done.add(each);
      }
    }
    return done;
  }

  /** What a transaction has room for: one document at least. */
  private static final class Room {
    private final int mostRows;
    private final int mostBytes;
    private int documents;
    private int rows;
    private long bytes;

    Room(int mostRows, int mostBytes) {
      this.mostRows = mostRows;
      this.mostBytes = mostBytes;
    }

    boolean takes(Mapped document) {
      rows += document.due().had().size() + document.emitted().count();
      bytes += document.emitted().bytes() + DueDocuments.bytes(document.due().had());
      return documents++ == 0 || (rows <= mostRows && bytes <= mostBytes);
    }
  }

  private List<Mapped> mapped(ViewRows rows, List<Due> some, long nanos) {
    List<byte[]> shown = some.stream().flatMap(it -> it.json().stream()).toList();
    Iterator<Outcome> outcomes = functions.map(shown, nanos, mostBytes).iterator();
    List<Mapped> done = new ArrayList<>();
    for (Due due : some) {
      boolean isShown = due.json().isPresent();
      if (isShown && !outcomes.hasNext()) {
        break;
      }
      done.add(
          new Mapped(
              due,
              isShown
                  ? EmittedRows.of(outcomes.next(), due.id(), rows, definition.views())
                  : EmittedRows.NONE));
    }
    mapped += done.size();
    ahead.took(done.size(), done.stream().mapToLong(it -> it.emitted().bytes()).sum());
    return done;
  }

  private ViewRows rows(DatabaseHandle db) {
    return new ViewRows(db, number, definition.partitioned());
  }
}
