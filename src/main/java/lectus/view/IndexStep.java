package lectus.view;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import lectus.changes.log.ChangesSubspace;
import lectus.changes.log.ChangesSubspace.ChangeEntry;
import lectus.changes.log.GoneSubspace;
import lectus.changes.log.GoneSubspace.Gone;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.document.DocumentId;
import lectus.document.ReadAhead;
import lectus.document.read.MappedDocuments;
import lectus.error.FoundationDbError;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.script.Outcome;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.view.ShardTasks.Look;
import lectus.view.ShardTasks.Task;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewRows.Emitted;
import lectus.view.ViewRows.Place;
import lectus.view.ViewRows.Refusal;
import lectus.view.ViewRows.Refused;
import lectus.view.ViewTree.Child;
import lectus.view.ViewTree.Making;
import lectus.view.ViewTree.Part;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.Repaired;
import lectus.view.ViewsSubspace.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves one index of views from one sequence to a later one, in three parts of which the second has
 * no transaction: entries, documents and what the index has of them are read; functions are run;
 * rows and the index's state are written. All who write to an index have its state among what they
 * conflict with, so what was read is still true when the last part commits.
 *
 * <p>A step takes the oldest entries behind the index's sequence, of all changes shards and of what
 * is gone, up to a limit. With fewer entries than that, the index is then the database as of the
 * read version of the first part. An index that has much to do gets its nodes only when all rows
 * are there.
 */
final class IndexStep {
  private static final Logger LOG = LoggerFactory.getLogger(IndexStep.class);

  /** Documents of a step that keeps nodes up to date. */
  static final int DOCUMENTS = 2_000;

  /** Documents of a new index from which on it is built by tasks. */
  private static final int DOCUMENTS_OF_NEW = 500;

  /** Documents of a step that writes rows alone. */
  static final int DOCUMENTS_OF_BUILD = 2_000;

  /** Rows that a step with nodes removes and adds: each changes a node of each level. */
  private static final int ROWS = 5_000;

  private static final int ROWS_OF_BUILD = 20_000;

  /**
   * Greatest target size of the documents that a step reads, of their places, and of their rows.
   */
  static final int MOST_BYTES = 3_000_000;

  /** Documents that are mapped together before it is known how much they emit. */
  private static final int FIRST_MAPPED = 64;

  private static final int MAX_MAPPED = 1_024;

  /** Documents whose places are read together before it is known how many they have. */
  private static final int FIRST_PLACES = 8;

  /** How long maps run before what they have made is written, however slow they are. */
  private static final long MAPPING_NANOS = 2_000_000_000;

  /** Refused documents that are looked at, and of these the ones that are mapped again together. */
  private static final int REFUSED = 100;

  private static final int AGAIN = 8;

  /** Children of the nodes that one transaction makes anew. */
  private static final int CHILDREN = 20_000;

  /** Rows whose nodes are made in one transaction, unless that waits for functions. */
  private static final int FEW_ROWS = 200;

  /** Bytes of the nodes that a step changes. */
  private static final long MAX_NODES_BYTES = 4_000_000;

  private final TransactionRunner transactions;
  private final DatabaseReader database;
  private final ViewDefinition definition;
  private final Registered index;
  private final ViewFunctions functions;
  private final byte[] holder = Lease.newHolder();
  private Optional<Task> held = Optional.empty();

  /**
   * Where a task, or the steps behind all tasks, may end: the database when they began. Those who
   * go on writing keep no build from ending.
   */
  private Optional<Sequence> goal = Optional.empty();

  private volatile long documents;
  private final int mostBytes;
  private final ReadAhead ahead;

  /** Reads one life of a database. */
  interface DatabaseReader {
    /** Returns the database as of a transaction. */
    DatabaseHandle of(ReadTransaction tx);

    /** Returns the database; the transaction conflicts with changes of its configuration. */
    DatabaseHandle forWrites(Transaction tx);
  }

  /**
   * @param mostBytes target size of the documents of a step, of their places, and of their rows
   */
  IndexStep(
      TransactionRunner transactions,
      DatabaseReader database,
      ViewDefinition definition,
      Registered index,
      ViewFunctions functions,
      int mostBytes) {
    this.transactions = transactions;
    this.database = database;
    this.definition = definition;
    this.index = index;
    this.functions = functions;
    this.mostBytes = mostBytes;
    this.ahead = new ReadAhead(FIRST_MAPPED, MAX_MAPPED, mostBytes / 3);
  }

  /**
   * What came of a step.
   *
   * @param state of the index, which another server may have moved on meanwhile; empty: it is gone
   * @param isCurrent whether the index is the database as of a read version, which is not earlier
   *     than the beginning of the step
   * @param isIdle whether there was nothing to do, because others do it
   */
  record Done(Optional<State> state, boolean isCurrent, boolean isIdle) {
    static Done of(State state) {
      return new Done(Optional.of(state), false, false);
    }
  }

  /**
   * A document to look at.
   *
   * @param json empty: it has no rows
   * @param had its places so far
   */
  private record Due(String id, Sequence at, Optional<byte[]> json, List<Place> had) {}

  /**
   * What the first part read.
   *
   * @param isAll whether nothing is left behind {@code to}
   */
  private record Batch(State state, List<Due> due, Sequence to, boolean isAll) {}

  /** Returns how many documents were mapped. */
  long documents() {
    return documents;
  }

  boolean isOf(ViewDefinition other) {
    return definition.signature().equals(other.signature());
  }

  /**
   * Runs a step; once, also after a conflict.
   *
   * @param mayKeepNodes whether nodes are kept up to date although there is more to do
   */
  Done run(boolean mayKeepNodes) {
    Optional<Batch> read = transactions.read(this::read);
    if (read.isEmpty()) {
      return new Done(Optional.empty(), false, false);
    }
    State state = read.get().state();
    if (state.phase() == Phase.REPAIR) {
      return repair(state);
    }
    if (state.phase() == Phase.TASKS) {
      return task(state);
    }
    if (state.phase() != Phase.BUILDING) {
      goal = Optional.empty();
    } else if (goal.isEmpty()) {
      goal = Optional.of(transactions.read(tx -> readVersion(tx, database.of(tx))));
    }
    if (state.upTo().isEmpty() && !read.get().isAll()) {
      return beginTasks(state);
    }
    if (read.get().due().isEmpty() && read.get().isAll() && state.isSettled()) {
      // Nothing happened, so there is nothing to write.
      return new Done(Optional.of(state), true, false);
    }
    boolean keepsNodes =
        state.isSettled() && (read.get().isAll() || (mayKeepNodes && state.upTo().isPresent()));
    return write(read.get(), keepsNodes);
  }

  private Optional<Batch> read(ReadTransaction tx) {
    DatabaseHandle db = database.of(tx);
    Optional<State> state = Awaiting.await(new ViewsSubspace(db).read(tx, index.number()));
    return state.filter(it -> !it.isDropped()).map(it -> read(tx, db, it));
  }

  private Batch read(ReadTransaction tx, DatabaseHandle db, State state) {
    Sequence now = readVersion(tx, db);
    if (state.phase() == Phase.REPAIR || state.phase() == Phase.TASKS) {
      return new Batch(state, List.of(), now, false);
    }
    if (state.phase() == Phase.GONE) {
      return due(tx, db, state, gone(tx, db, state));
    }
    int most =
        !state.isSettled()
            ? DOCUMENTS_OF_BUILD
            : state.upTo().isEmpty() ? DOCUMENTS_OF_NEW : DOCUMENTS;
    return due(tx, db, state, Entries.read(tx, db, state.upTo(), now, most));
  }

  /** Reads what there is of the documents of entries, and what the index has of them. */
  private Batch due(ReadTransaction tx, DatabaseHandle db, State state, Entries entries) {
    MappedDocuments documents = new MappedDocuments(tx, db, definition.localSeq(), mostBytes);
    ViewRows rows = rows(db);
    List<Optional<byte[]>> bodies =
        documents.read(
            entries.all().stream().map(entry -> entry.entry().filter(this::isMapped)).toList());
    List<List<Place>> had = had(tx, rows, entries.all().subList(0, bodies.size()));
    List<Due> due = new ArrayList<>();
    for (int i = 0; i < had.size(); i++) {
      Entry entry = entries.all().get(i);
      due.add(new Due(entry.id(), entry.at(), bodies.get(i), had.get(i)));
    }
    boolean isCut = due.size() < entries.all().size();
    Sequence to = isCut ? due.get(due.size() - 1).at() : entries.to();
    return new Batch(state, due, to, entries.isAll() && !isCut);
  }

  /** Returns the places of the first ones, as many as there is room for. */
  private List<List<Place>> had(ReadTransaction tx, ViewRows rows, List<Entry> entries) {
    ReadAhead ahead = new ReadAhead(FIRST_PLACES, MAX_MAPPED, mostBytes / 3);
    List<List<Place>> had = new ArrayList<>();
    long bytes = 0;
    while (had.size() < entries.size()) {
      int from = had.size();
      List<CompletableFuture<List<Place>>> window =
          entries.subList(from, Math.min(entries.size(), from + ahead.size())).stream()
              .map(entry -> rows.places(tx, entry.id()))
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
    return places.stream().mapToLong(it -> it.key().length).sum();
  }

  /**
   * Returns documents that were purged while tasks ran. A task may have read one before it was
   * purged, and written its rows afterwards. One that was written again is looked at as it is.
   */
  private static Entries gone(ReadTransaction tx, DatabaseHandle db, State state) {
    Sequence until = state.upTo().orElseThrow();
    List<Gone> gone = Awaiting.await(new GoneSubspace(db).after(tx, state.goneUpTo(), DOCUMENTS));
    List<Gone> within = gone.stream().filter(it -> it.sequence().compareTo(until) <= 0).toList();
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    List<CompletableFuture<Optional<EditBranch>>> winners =
        within.stream().map(it -> revisions.winner(tx, it.docId())).toList();
    List<Entry> all = new ArrayList<>();
    for (int i = 0; i < within.size(); i++) {
      String id = within.get(i).docId();
      all.add(
          new Entry(
              id,
              within.get(i).sequence(),
              Awaiting.await(winners.get(i)).map(it -> entry(id, it))));
    }
    boolean isAll = within.size() < DOCUMENTS;
    return new Entries(all, isAll ? until : all.get(all.size() - 1).at(), isAll);
  }

  private static ChangeEntry entry(String docId, EditBranch winner) {
    return new ChangeEntry(
        winner.winner().sequence(),
        docId,
        winner.leaf(),
        winner.deleted(),
        winner.winner().branchCount());
  }

  /**
   * Maps documents again that took too much time, or ended their process: some of those that come
   * first by their ids. The index stays the database as of its sequence.
   *
   * @param isDue whether to do so now
   * @return whether there are such documents
   */
  boolean mapAgain(boolean isDue) {
    List<Refused> again = transactions.read(this::again);
    if (isDue) {
      again.forEach(this::mapAgain);
    }
    return !again.isEmpty();
  }

  private List<Refused> again(ReadTransaction tx) {
    return rows(database.of(tx)).refused(tx, REFUSED).stream()
        .filter(it -> it.why().triesLeft() > 0)
        .limit(AGAIN)
        .toList();
  }

  /** While it is mapped others may move the index on, as long as they do not come to it. */
  private void mapAgain(Refused refused) {
    Optional<Batch> batch = transactions.read(tx -> again(tx, refused));
    if (batch.isEmpty()) {
      return;
    }
    DatabaseHandle db = transactions.read(database::of);
    Due due = batch.get().due().get(0);
    Mapped mapped = map(db, List.of(due), ROWS).get(0).after(refused.why());
    boolean isWritten = false;
    while (!isWritten && batch.filter(it -> it.due().get(0).at().equals(due.at())).isPresent()) {
      State state = batch.get().state();
      try {
        isWritten = writeBeside(state, mapped);
      } catch (RuntimeException failure) {
        mapped = fewer(List.of(mapped), failure).get(0);
      }
      batch = transactions.read(tx -> again(tx, refused));
    }
  }

  private boolean writeBeside(State state, Mapped mapped) {
    List<Making> nodes = nodes(state, List.of(mapped));
    State same = new State(state.phase(), state.upTo(), state.next());
    return move(state, same, (tx, db) -> write(tx, db, List.of(mapped), nodes)).state().get()
        == same;
  }

  /** Returns the document if it is still refused, and known to the index as it is. */
  private Optional<Batch> again(ReadTransaction tx, Refused refused) {
    DatabaseHandle db = database.of(tx);
    CompletableFuture<Optional<Refusal>> why = rows(db).refusal(tx, refused.docId());
    CompletableFuture<Optional<EditBranch>> winner =
        new RevisionsSubspace(db).winner(tx, refused.docId());
    Optional<State> state =
        Awaiting.await(new ViewsSubspace(db).read(tx, index.number())).filter(State::isSettled);
    Optional<ChangeEntry> entry =
        Awaiting.await(winner)
            .map(it -> entry(refused.docId(), it))
            .filter(it -> state.filter(known -> !known.isBehind(it.sequence())).isPresent());
    boolean isSame = Awaiting.await(why).equals(Optional.of(refused.why()));
    if (entry.isEmpty() || !isSame) {
      return Optional.empty();
    }
    Sequence at = entry.get().sequence();
    List<Entry> one = List.of(new Entry(refused.docId(), at, entry));
    return Optional.of(due(tx, db, state.get(), new Entries(one, at, false)));
  }

  /** From now on tasks write rows, one for each changes shard, on all servers. */
  private Done beginTasks(State state) {
    State tasks = new State(Phase.TASKS, Optional.empty(), Optional.empty());
    return move(state, tasks, (tx, db) -> {});
  }

  /** What is written beside the state of the index. */
  private interface Writing {
    void write(Transaction tx, DatabaseHandle db);
  }

  /** Writes, unless another server was faster. */
  private Done move(State from, State to, Writing writing) {
    boolean isWritten =
        transactions.run(
            tx -> {
              DatabaseHandle db = database.forWrites(tx);
              if (!isStill(tx, db, from)) {
                return false;
              }
              writing.write(tx, db);
              advance(tx, db, to);
              return true;
            });
    return Done.of(isWritten ? to : from);
  }

  /** Performs a page of a task. A worker that finds all done ends the phase. */
  private Done task(State state) {
    if (held.isEmpty()) {
      Look look =
          transactions.run(
              tx -> {
                DatabaseHandle db = database.forWrites(tx);
                return isStill(tx, db, state)
                    ? new ShardTasks(db, index.number()).look(tx, holder)
                    : new Look(Optional.empty(), Optional.empty());
              });
      if (look.end().isPresent()) {
        State gone = State.gone(look.end().get(), Optional.empty());
        return move(state, gone, (tx, db) -> new ShardTasks(db, index.number()).clear(tx));
      }
      held = look.claimed();
      goal = Optional.empty();
      if (held.isEmpty()) {
        return new Done(Optional.of(state), false, true);
      }
    }
    Task task = held.get();
    try {
      held = page(state, task);
    } catch (RuntimeException | Error failure) {
      held = Optional.empty();
      giveBack(task);
      throw failure;
    }
    return Done.of(state);
  }

  /** So nobody has to wait until the claim has lapsed. */
  private void giveBack(Task task) {
    try {
      transactions.<Void>run(
          tx -> {
            ShardTasks tasks = new ShardTasks(database.forWrites(tx), index.number());
            if (tasks.isStill(tx, task)) {
              tasks.put(tx, task.givenBack());
            }
            return null;
          });
    } catch (RuntimeException failure) {
      LOG.debug("A task is not given back", failure);
    }
  }

  /**
   * Writes the rows of some entries of a task's shard. It conflicts with nobody but other holders
   * of the task, and whoever ends the phase.
   *
   * @return the task if it goes on
   */
  private Optional<Task> page(State state, Task task) {
    Optional<Page> read =
        transactions.read(
            tx -> {
              DatabaseHandle db = database.of(tx);
              ShardTasks tasks = new ShardTasks(db, index.number());
              if (!isStill(tx, db, state) || !tasks.isStill(tx, task)) {
                return Optional.empty();
              }
              Sequence now = readVersion(tx, db);
              Entries entries = Entries.ofShard(tx, db, task, now);
              return Optional.of(
                  new Page(due(tx, db, state, entries), now, tasks.isReplaced(task.shard())));
            });
    if (read.isEmpty()) {
      return Optional.empty();
    }
    Page page = read.get();
    goal = goal.or(() -> Optional.of(page.now()));
    List<Mapped> mapped = map(transactions.read(database::of), page.batch().due(), ROWS_OF_BUILD);
    while (true) {
      try {
        return write(state, task, page, mapped);
      } catch (RuntimeException failure) {
        mapped = fewer(mapped, failure);
      }
    }
  }

  /**
   * A page of a task.
   *
   * @param now as of when it was read
   * @param isReplaced whether the shard gets no more entries
   */
  private record Page(Batch batch, Sequence now, boolean isReplaced) {
    Task done(Task task) {
      return task.done(isReplaced ? Optional.empty() : Optional.of(now));
    }
  }

  private Optional<Task> write(State state, Task task, Page page, List<Mapped> mapped) {
    Batch batch = page.batch();
    boolean isWhole = mapped.size() == distinct(batch.due());
    Sequence to = isWhole ? batch.to() : mapped.get(mapped.size() - 1).due().at();
    boolean isAll = isWhole && batch.isAll();
    boolean isDone = isAll || (!page.isReplaced() && hasComeToGoal(to));
    return transactions.run(
        tx -> {
          DatabaseHandle db = database.forWrites(tx);
          ShardTasks tasks = new ShardTasks(db, index.number());
          if (!isStill(tx, db, state) || !tasks.isStill(tx, task)) {
            return Optional.empty();
          }
          write(tx, db, mapped, List.of());
          Task next =
              isAll
                  ? page.done(task)
                  : isDone
                      ? task.done(Optional.of(to))
                      : task.upTo(to, Awaiting.await(tx.getReadVersion()));
          tasks.put(tx, next);
          return isDone ? Optional.empty() : Optional.of(next);
        });
  }

  private boolean isMapped(ChangeEntry entry) {
    return !entry.deleted() && (definition.includeDesign() || !DocumentId.isDesign(entry.docId()));
  }

  static Sequence readVersion(ReadTransaction tx, DatabaseHandle db) {
    long version = Awaiting.await(tx.getReadVersion());
    return new Sequence(db.incarnation(), Versionstamp.upTo(version).bytes());
  }

  private ViewRows rows(DatabaseHandle db) {
    return new ViewRows(db, index.number(), definition.partitioned());
  }

  /**
   * An entry of the changes index, or a document that is gone.
   *
   * @param entry empty: it is gone
   */
  record Entry(String id, Sequence at, Optional<ChangeEntry> entry) {}

  /**
   * The oldest entries behind a sequence, in order.
   *
   * @param to up to where these are all
   */
  record Entries(List<Entry> all, Sequence to, boolean isAll) {
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
                .read(tx, shard, after, Optional.empty(), each, false)
                .thenApply(some -> some.stream().map(Entries::of).toList()));
      }
      reading.add(
          new GoneSubspace(db)
              .after(tx, after, each)
              .thenApply(some -> some.stream().map(Entries::of).toList()));
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

    /** Returns the oldest entries of a task's shard. */
    static Entries ofShard(ReadTransaction tx, DatabaseHandle db, Task task, Sequence now) {
      int most = DOCUMENTS_OF_BUILD;
      List<Entry> all =
          Awaiting.await(
                  new ChangesSubspace(db)
                      .read(tx, task.shard(), task.last(), Optional.empty(), most, false))
              .stream()
              .map(Entries::of)
              .toList();
      return all.size() < most
          ? new Entries(all, now, true)
          : new Entries(all, all.get(most - 1).at(), false);
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

    private static Entry of(ChangeEntry entry) {
      return new Entry(entry.docId(), entry.sequence(), Optional.of(entry));
    }

    private static Entry of(Gone gone) {
      return new Entry(gone.docId(), gone.sequence(), Optional.empty());
    }
  }

  /** What a document has in the views from now on. */
  private record Mapped(Due due, EmittedRows emitted) {
    Optional<Refusal> refused() {
      return emitted.refused();
    }

    Mapped after(Refusal former) {
      return new Mapped(
          due, new EmittedRows(emitted.views(), refused().map(it -> it.after(former))));
    }
  }

  /**
   * Runs the maps, for as many documents as a transaction has room for and some time, but one at
   * least. Of a document that occurs twice only the later entry counts.
   */
  private List<Mapped> map(DatabaseHandle db, List<Due> due, int mostRows) {
    Map<String, Due> latest = new LinkedHashMap<>();
    for (Due each : due) {
      if (each.json().isPresent() || !latest.containsKey(each.id())) {
        latest.remove(each.id());
        latest.put(each.id(), each);
      }
    }
    List<Due> all = List.copyOf(latest.values());
    List<Mapped> mapped = new ArrayList<>();
    Room room = new Room(mostRows, mostBytes);
    long end = System.nanoTime() + MAPPING_NANOS;
    while (mapped.size() < all.size() && (mapped.isEmpty() || System.nanoTime() - end < 0)) {
      int to = Math.min(all.size(), mapped.size() + ahead.size());
      long left = Math.max(0, end - System.nanoTime());
      for (Mapped each : mapped(rows(db), all.subList(mapped.size(), to), left)) {
        if (!room.takes(each)) {
          return mapped;
        }
        mapped.add(each);
      }
    }
    return mapped;
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
      bytes += document.emitted().bytes() + IndexStep.bytes(document.due().had());
      return documents++ == 0 || (rows <= mostRows && bytes <= mostBytes);
    }
  }

  private List<Mapped> mapped(ViewRows rows, List<Due> some, long nanos) {
    List<byte[]> shown = some.stream().flatMap(it -> it.json().stream()).toList();
    Iterator<Outcome> outcomes = functions.map(shown, nanos, mostBytes).iterator();
    List<Mapped> mapped = new ArrayList<>();
    for (Due due : some) {
      boolean isShown = due.json().isPresent();
      if (isShown && !outcomes.hasNext()) {
        break;
      }
      mapped.add(
          new Mapped(
              due,
              isShown
                  ? EmittedRows.of(outcomes.next(), due.id(), rows, definition.views())
                  : EmittedRows.NONE));
    }
    documents += mapped.size();
    ahead.took(mapped.size(), mapped.stream().mapToLong(it -> it.emitted().bytes()).sum());
    return mapped;
  }

  /** Thrown if nodes become so large that all are better made anew. */
  private static final class TooMuch extends RuntimeException {
    TooMuch() {
      super("The nodes take too much of a transaction", null, false, false);
    }
  }

  private Done write(Batch batch, boolean keepsNodes) {
    DatabaseHandle db = transactions.read(database::of);
    List<Mapped> mapped = map(db, batch.due(), keepsNodes ? ROWS : ROWS_OF_BUILD);
    boolean hasNodes = keepsNodes;
    while (true) {
      try {
        return write(batch, mapped, hasNodes);
      } catch (RuntimeException failure) {
        boolean keeps = hasNodes && (mapped.size() > 1 || !isTooLarge(failure));
        mapped = keeps || !hasNodes ? fewer(mapped, failure) : mapped;
        hasNodes = keeps;
      }
    }
  }

  /**
   * Returns half of the documents of a step that was too large; one alone is refused.
   *
   * @throws RuntimeException the failure has another cause
   */
  private static List<Mapped> fewer(List<Mapped> mapped, RuntimeException failure) {
    if (!isTooLarge(failure) || mapped.isEmpty()) {
      throw failure;
    }
    if (mapped.size() > 1) {
      return mapped.subList(0, mapped.size() / 2);
    }
    Mapped one = mapped.get(0);
    if (one.refused().isPresent()) {
      throw failure;
    }
    return List.of(
        new Mapped(one.due(), EmittedRows.refused("Its rows take too much of a transaction.")));
  }

  private static boolean isTooLarge(RuntimeException failure) {
    return failure instanceof TooMuch
        || (failure instanceof FDBException refused
            && FoundationDbError.TRANSACTION_TOO_LARGE.is(refused.getCode()));
  }

  private Done write(Batch batch, List<Mapped> mapped, boolean keepsNodes) {
    boolean isWhole = mapped.size() == distinct(batch.due());
    Sequence to = isWhole ? batch.to() : mapped.get(mapped.size() - 1).due().at();
    boolean isAll = isWhole && batch.isAll();
    List<Making> nodes = keepsNodes ? nodes(batch.state(), mapped) : List.of();
    State next = next(batch.state(), to, isAll, keepsNodes);
    Done done = move(batch.state(), next, (tx, current) -> write(tx, current, mapped, nodes));
    boolean isWritten = done.state().orElseThrow() == next;
    return new Done(done.state(), isWritten && isAll && next.isSettled(), false);
  }

  private boolean hasComeToGoal(Sequence to) {
    return goal.filter(it -> to.compareTo(it) >= 0).isPresent();
  }

  private State next(State from, Sequence to, boolean isAll, boolean hasNodes) {
    if (from.phase() == Phase.GONE) {
      Sequence upTo = from.upTo().orElseThrow();
      return isAll ? State.of(Phase.BUILDING, upTo) : State.gone(upTo, Optional.of(to));
    }
    if (hasNodes) {
      return State.of(Phase.SETTLED, to);
    }
    return isAll || hasComeToGoal(to)
        ? new State(Phase.REPAIR, Optional.of(to), Optional.of(new Repaired(0, 1, ViewTree.FIRST)))
        : State.of(Phase.BUILDING, to);
  }

  private static int distinct(List<Due> due) {
    Set<String> ids = new HashSet<>();
    due.forEach(it -> ids.add(it.id()));
    return ids.size();
  }

  private Map<Integer, NavigableMap<byte[], Optional<Emitted>>> changed(List<Mapped> mapped) {
    Map<Integer, NavigableMap<byte[], Optional<Emitted>>> changed = new HashMap<>();
    for (Mapped each : mapped) {
      for (Place place : each.due().had()) {
        changed
            .computeIfAbsent(place.view(), view -> ViewTree.byPlace())
            .put(place.key(), Optional.empty());
      }
    }
    for (Mapped each : mapped) {
      each.emitted()
          .views()
          .forEach(
              (view, emitted) ->
                  emitted.forEach(
                      (place, row) ->
                          changed
                              .computeIfAbsent(view, it -> ViewTree.byPlace())
                              .put(place, Optional.of(row))));
    }
    return changed;
  }

  /**
   * Makes the nodes that change, view by view and level by level. Returns none if another server
   * was faster.
   *
   * @throws TooMuch they would take too much of a transaction
   */
  private List<Making> nodes(State state, List<Mapped> mapped) {
    Map<Integer, NavigableMap<byte[], Optional<Emitted>>> changed = changed(mapped);
    boolean areFew =
        changed.values().stream().mapToInt(Map::size).sum() <= FEW_ROWS
            && changed.keySet().stream()
                .noneMatch(view -> functions.reducer(definition.views().get(view)).waits());
    if (!areFew) {
      return nodes(transactions.read(database::of), changed, making -> goesOn(state, making));
    }
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.of(tx);
          return isStill(tx, db, state)
              ? nodes(
                  db,
                  changed,
                  making -> {
                    making.take(making.load(tx));
                    return true;
                  })
              : List.of();
        });
  }

  /**
   * @param goesOn makes some nodes; returns false if another server was faster
   */
  private List<Making> nodes(
      DatabaseHandle db,
      Map<Integer, NavigableMap<byte[], Optional<Emitted>>> changed,
      Predicate<Making> goesOn) {
    List<Making> all = new ArrayList<>();
    long bytes = 0;
    for (Map.Entry<Integer, NavigableMap<byte[], Optional<Emitted>>> view : changed.entrySet()) {
      ViewTree tree = tree(db, view.getKey());
      NavigableMap<byte[], Optional<Child>> below = ViewTree.children(view.getValue());
      for (int level = 1; level <= ViewTree.TOP; level++) {
        Making making = tree.changing(level, below);
        while (!making.isEnd()) {
          if (!goesOn.test(making)) {
            return List.of();
          }
          if (bytes + making.madeBytes() > MAX_NODES_BYTES) {
            throw new TooMuch();
          }
        }
        all.add(making);
        bytes += making.madeBytes();
        below = making.changes();
      }
    }
    return all;
  }

  /** Makes some nodes; returns false if another server was faster. */
  private boolean goesOn(State state, Making making) {
    Optional<Part> part =
        transactions.read(
            tx ->
                isStill(tx, database.of(tx), state)
                    ? Optional.of(making.load(tx))
                    : Optional.empty());
    part.ifPresent(making::take);
    return part.isPresent();
  }

  private ViewTree tree(DatabaseHandle db, int view) {
    View of = definition.views().get(view);
    return new ViewTree(rows(db), view, index.salt(), functions.reducer(of));
  }

  private boolean isStill(ReadTransaction tx, DatabaseHandle db, State state) {
    return Awaiting.await(new ViewsSubspace(db).read(tx, index.number()))
        .filter(state::equals)
        .isPresent();
  }

  private void write(Transaction tx, DatabaseHandle db, List<Mapped> mapped, List<Making> nodes) {
    ViewRows rows = rows(db);
    changed(mapped)
        .forEach(
            (view, changed) ->
                changed.forEach(
                    (place, row) -> rows.put(tx, view, 0, place, row.map(ViewRows::encode))));
    for (Mapped each : mapped) {
      each.refused()
          .ifPresent(
              why ->
                  LOG.info("Views of {} refuse {}: {}", db.name(), each.due().id(), why.reason()));
      if (!each.due().had().isEmpty()) {
        rows.clearPlaces(tx, each.due().id());
      }
      rows.put(tx, each.due().id(), each.emitted().places(), each.refused());
    }
    nodes.forEach(it -> it.write(tx));
  }

  private void advance(Transaction tx, DatabaseHandle db, State next) {
    ViewsSubspace views = new ViewsSubspace(db);
    if (next.phase() == Phase.REPAIR && next.next().filter(Repaired::isFirst).isPresent()) {
      ViewRows rows = rows(db);
      definition.views().forEach(view -> rows.clearNodes(tx, view.number()));
    }
    views.write(tx, index.number(), next);
    views.slowest(tx.snapshot()).ifPresent(it -> new GoneSubspace(db).clear(tx, it));
  }

  /** Makes some nodes of one level anew. */
  private Done repair(State state) {
    Repaired at = state.next().orElseThrow();
    DatabaseHandle db = transactions.read(database::of);
    Making making = tree(db, at.view()).rebuilding(at.level(), at.key());
    long end = System.nanoTime() + MAPPING_NANOS;
    do {
      if (!goesOn(state, making)) {
        return new Done(Optional.of(state), false, true);
      }
    } while (!making.isEnd()
        && (making.changes().isEmpty()
            || (making.children() < CHILDREN
                && making.madeBytes() < mostBytes
                && System.nanoTime() - end < 0)));
    Optional<byte[]> next = making.isEnd() ? Optional.empty() : Optional.of(making.unfinished());
    return move(state, after(state, at, next), (tx, current) -> making.write(tx));
  }

  private State after(State state, Repaired at, Optional<byte[]> nextKey) {
    if (nextKey.isPresent()) {
      return state.repairing(new Repaired(at.view(), at.level(), nextKey.get()));
    }
    if (at.level() < ViewTree.TOP) {
      return state.repairing(new Repaired(at.view(), at.level() + 1, ViewTree.FIRST));
    }
    return at.view() + 1 < definition.views().size()
        ? state.repairing(new Repaired(at.view() + 1, 1, ViewTree.FIRST))
        : State.of(Phase.SETTLED, state.upTo().orElseThrow());
  }
}
