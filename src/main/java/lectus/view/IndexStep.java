package lectus.view;

import com.apple.foundationdb.FDBException;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.error.FoundationDbError;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.Lease;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;
import lectus.view.BuildTasks.Look;
import lectus.view.BuildTasks.OfRange;
import lectus.view.BuildTasks.OfShard;
import lectus.view.BuildTasks.Task;
import lectus.view.BuildTasks.Work;
import lectus.view.DueDocuments.Batch;
import lectus.view.DueDocuments.Due;
import lectus.view.DueDocuments.Entries;
import lectus.view.DueDocuments.Entry;
import lectus.view.DueDocuments.Mapped;
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

  /** Refused documents that are mapped again together. */
  private static final int AGAIN = 8;

  /** Children of the nodes that one transaction makes anew. */
  private static final int CHILDREN = 20_000;

  /** Bytes of the nodes that a step changes. */
  private static final long MAX_NODES_BYTES = 4_000_000;

  /** Ranges of an index's rows that have tasks; each view has one at least. */
  private static final int RANGES = 256;

  /** Marked rows in a range: some 16 000 rows are made nodes of in one transaction. */
  private static final int MARKS_OF_RANGE = 4;

  /** Marks that one transaction reads. */
  private static final int MARKS = 5_000;

  private final TransactionRunner transactions;
  private final DatabaseReader database;
  private final ViewDefinition definition;
  private final Registered index;
  private final ViewFunctions functions;
  private final byte[] holder = Lease.newHolder();
  private volatile Optional<Task> held = Optional.empty();
  private volatile boolean isStopped;

  /**
   * Where a task, or the steps behind all tasks, may end: the database when they began. Those who
   * go on writing keep no build from ending.
   */
  private Optional<Sequence> goal = Optional.empty();

  /** Up to where the index has nothing of the documents of the task that is held. */
  private Optional<Sequence> untouched = Optional.empty();

  private final int mostBytes;
  final DueDocuments documents;

  /** Who claims tasks of an index in this server does so one after the other. */
  private final Object claiming;

  /** Reads one life of a database. */
  interface DatabaseReader {
    /** Returns the database as of a transaction. */
    DatabaseHandle of(ReadTransaction tx);

    /** Returns the database; the transaction conflicts with changes of its configuration. */
    DatabaseHandle forWrites(Transaction tx);
  }

  /**
   * @param mostBytes target size of the documents of a step, of their places, and of their rows
   * @param claiming which all of the index in this server have in common
   */
  IndexStep(
      TransactionRunner transactions,
      DatabaseReader database,
      ViewDefinition definition,
      Registered index,
      ViewFunctions functions,
      int mostBytes,
      Object claiming) {
    this.transactions = transactions;
    this.database = database;
    this.definition = definition;
    this.index = index;
    this.functions = functions;
    this.mostBytes = mostBytes;
    this.claiming = claiming;
    this.documents = new DueDocuments(definition, index.number(), functions, mostBytes);
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

    private static Done idle(State state) {
      return new Done(Optional.of(state), false, true);
    }
  }

  /** What the first part read. */
  private record Found(State state, Batch batch) {}

  boolean isOf(ViewDefinition other) {
    return definition.signature().equals(other.signature());
  }

  /**
   * Runs a step; once, also after a conflict.
   *
   * @param mayKeepNodes whether nodes are kept up to date although there is more to do
   */
  Done run(boolean mayKeepNodes) {
    Optional<Found> read = transactions.read(this::read);
    if (read.isEmpty()) {
      return new Done(Optional.empty(), false, false);
    }
    State state = read.get().state();
    Batch batch = read.get().batch();
    if (isStopped) {
      return Done.idle(state);
    }
    if (state.phase() == Phase.REPAIR || state.phase() == Phase.ROWS) {
      return beginNodes(state);
    }
    if (state.phase().hasTasks()) {
      return task(state);
    }
    if (state.phase() != Phase.BUILDING) {
      goal = Optional.empty();
    } else if (goal.isEmpty()) {
      goal = Optional.of(transactions.read(tx -> readVersion(tx, database.of(tx))));
    }
    if (state.upTo().isEmpty() && !batch.isAll()) {
      return beginTasks(state);
    }
    if (batch.due().isEmpty() && batch.isAll() && state.isSettled()) {
      // Nothing happened, so there is nothing to write.
      return new Done(Optional.of(state), true, false);
    }
    boolean keepsNodes =
        state.isSettled() && (batch.isAll() || (mayKeepNodes && state.upTo().isPresent()));
    return write(read.get(), keepsNodes);
  }

  /** Performs a page of a task, as long as the index is in a phase that has tasks. */
  Done help(Phase phase) {
    Optional<State> state =
        transactions.read(
            tx -> Awaiting.await(new ViewsSubspace(database.of(tx)).read(tx, index.number())));
    return state.filter(it -> it.phase() == phase && !isStopped).isPresent()
        ? task(state.get())
        : new Done(state, false, false);
  }

  private Optional<Found> read(ReadTransaction tx) {
    DatabaseHandle db = database.of(tx);
    Optional<State> state = Awaiting.await(new ViewsSubspace(db).read(tx, index.number()));
    return state.filter(it -> !it.isDropped()).map(it -> new Found(it, read(tx, db, it)));
  }

  private Batch read(ReadTransaction tx, DatabaseHandle db, State state) {
    Sequence now = readVersion(tx, db);
    return switch (state.phase()) {
      case REPAIR, ROWS, TASKS, NODES, DROPPED -> new Batch(List.of(), now, false);
      case GONE -> {
        Sequence until = state.upTo().orElseThrow();
        Entries gone = Entries.gone(tx, db, state.goneUpTo(), until, DOCUMENTS);
        yield documents.read(tx, db, gone, Optional.empty());
      }
      case BUILDING, SETTLED -> {
        int most =
            !state.isSettled()
                ? DOCUMENTS_OF_BUILD
                : state.upTo().isEmpty() ? DOCUMENTS_OF_NEW : DOCUMENTS;
        Entries entries = Entries.read(tx, db, state.upTo(), now, most);
        yield documents.read(tx, db, entries, Optional.empty());
      }
    };
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
    return rows(database.of(tx)).refused(tx, DueDocuments.REFUSED).stream()
        .filter(it -> it.why().triesLeft() > 0)
        .limit(AGAIN)
        .toList();
  }

  /** While it is mapped others may move the index on, as long as they do not come to it. */
  private void mapAgain(Refused refused) {
    Optional<Found> found = transactions.read(tx -> again(tx, refused));
    if (found.isEmpty()) {
      return;
    }
    DatabaseHandle db = transactions.read(database::of);
    Due due = found.get().batch().due().get(0);
    Mapped mapped = documents.map(db, List.of(due), ROWS).get(0).after(refused.why());
    boolean isWritten = false;
    while (!isWritten
        && found.filter(it -> it.batch().due().get(0).at().equals(due.at())).isPresent()) {
      State state = found.get().state();
      try {
        isWritten = writeBeside(state, mapped);
      } catch (RuntimeException failure) {
        mapped = fewer(List.of(mapped), failure).get(0);
      }
      found = transactions.read(tx -> again(tx, refused));
    }
  }

  private boolean writeBeside(State state, Mapped mapped) {
    List<Making> nodes = nodes(state, List.of(mapped));
    State beside = state.beside(holder);
    return move(state, beside, (tx, db) -> write(tx, db, List.of(mapped), Optional.of(nodes)))
            .state()
            .get()
        == beside;
  }

  /** Returns the document if it is still refused, and known to the index as it is. */
  private Optional<Found> again(ReadTransaction tx, Refused refused) {
    DatabaseHandle db = database.of(tx);
    CompletableFuture<Optional<Refusal>> why = rows(db).refusal(tx, refused.docId());
    CompletableFuture<Optional<EditBranch>> winner =
        new RevisionsSubspace(db).winner(tx, refused.docId());
    Optional<State> state =
        Awaiting.await(new ViewsSubspace(db).read(tx, index.number())).filter(State::isSettled);
    Optional<EditBranch> known =
        Awaiting.await(winner)
            .filter(it -> state.filter(s -> !s.isBehind(it.winner().sequence())).isPresent());
    boolean isSame = Awaiting.await(why).equals(Optional.of(refused.why()));
    if (known.isEmpty() || !isSame) {
      return Optional.empty();
    }
    Sequence at = known.get().winner().sequence();
    List<Entry> one = List.of(Entry.of(refused.docId(), at, known));
    Entries alone = new Entries(one, at, false);
    return Optional.of(new Found(state.get(), documents.read(tx, db, alone, Optional.empty())));
  }

  /** From now on tasks write rows, one for each changes shard, on all servers. */
  private Done beginTasks(State state) {
    State tasks = new State(Phase.TASKS, Optional.empty(), Optional.empty());
    return move(state, tasks, (tx, db) -> {});
  }

  /** From now on tasks make nodes, one for each range of a view's rows, on all servers. */
  private Done beginNodes(State state) {
    List<Work> ranges = new ArrayList<>();
    for (View view : definition.views()) {
      Optional<List<byte[]>> begins = begins(state, view.number());
      if (begins.isEmpty()) {
        return Done.of(state);
      }
      begins.get().forEach(begin -> ranges.add(OfRange.of(view.number(), begin)));
    }
    return move(
        state,
        State.of(Phase.NODES, state.upTo().orElseThrow()),
        (tx, db) -> {
          ViewRows rows = rows(db);
          definition.views().forEach(view -> rows.clearNodes(tx, view.number()));
          BuildTasks tasks = new BuildTasks(db, index.number());
          tasks.clear(tx);
          ranges.forEach(it -> tasks.put(tx, Task.open(it)));
        });
  }

  /** Returns where the ranges of a view begin; empty if another server was faster. */
  private Optional<List<byte[]>> begins(State state, int view) {
    int most = Math.max(1, RANGES / definition.views().size());
    List<byte[]> begins = new ArrayList<>(List.of(ViewTree.FIRST));
    int stride = MARKS_OF_RANGE;
    int passed = 0;
    Optional<byte[]> last = Optional.of(ViewTree.FIRST);
    while (last.isPresent()) {
      byte[] after = last.get();
      Optional<List<byte[]>> read = transactions.read(tx -> marks(tx, state, view, after));
      if (read.isEmpty()) {
        return Optional.empty();
      }
      last = Optional.empty();
      for (byte[] mark : read.get()) {
        last = Optional.of(mark);
        if (++passed < stride) {
          continue;
        }
        passed = 0;
        begins.add(mark);
        if (begins.size() > most) {
          // Twice as far apart from now on.
          for (int i = begins.size() - 1; i > 0; i -= 2) {
            begins.remove(i);
          }
          stride *= 2;
        }
      }
    }
    return transactions.read(tx -> present(tx, state, view, begins));
  }

  /** Returns marked rows behind a place; empty if another server was faster. */
  private Optional<List<byte[]>> marks(ReadTransaction tx, State state, int view, byte[] after) {
    DatabaseHandle db = database.of(tx);
    if (!isStill(tx, db, state)) {
      return Optional.empty();
    }
    ViewRows rows = rows(db);
    byte[] from = Arrays.copyOf(after, after.length + 1);
    Range range = rows.range(view, ViewTree.MARKED, from, Optional.empty());
    return Optional.of(
        Awaiting.await(tx.getRange(range.begin, range.end, MARKS).asList()).stream()
            .map(mark -> rows.placeOf(view, ViewTree.MARKED, mark))
            .toList());
  }

  /** Leaves out places without a row: 0.2.0 left nodes there until it made all anew. */
  private Optional<List<byte[]>> present(
      ReadTransaction tx, State state, int view, List<byte[]> begins) {
    DatabaseHandle db = database.of(tx);
    if (!isStill(tx, db, state)) {
      return Optional.empty();
    }
    ViewRows rows = rows(db);
    List<CompletableFuture<byte[]>> found =
        begins.stream().map(it -> tx.get(rows.key(view, 0, it))).toList();
    List<byte[]> present = new ArrayList<>();
    for (int i = 0; i < begins.size(); i++) {
      if (begins.get(i).length == 0 || Awaiting.await(found.get(i)) != null) {
        present.add(begins.get(i));
      }
    }
    return Optional.of(present);
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
              ViewsSubspace views = new ViewsSubspace(db);
              views.write(tx, index.number(), to);
              views.slowest(tx.snapshot()).ifPresent(it -> new GoneSubspace(db).clear(tx, it));
              return true;
            });
    return Done.of(isWritten ? to : from);
  }

  /** Performs a page of a task. A worker that finds all done ends the phase. */
  private Done task(State state) {
    if (held.isEmpty()) {
      synchronized (claiming) {
        Optional<State> next = claim(state);
        if (next.isPresent()) {
          return move(state, next.get(), (tx, db) -> new BuildTasks(db, index.number()).clear(tx));
        }
      }
      if (held.isEmpty()) {
        return Done.idle(state);
      }
    }
    Task task = held.get();
    try {
      held = task.work() instanceof OfShard of ? page(state, task, of) : nodes(state, task);
    } catch (RuntimeException | Error failure) {
      held = Optional.empty();
      giveBack(task);
      throw failure;
    }
    if (isStopped) {
      stop();
    }
    return Done.of(state);
  }

  /** Claims a task; returns what follows if all are done. */
  private Optional<State> claim(State state) {
    Look look =
        transactions.run(
            tx -> {
              DatabaseHandle db = database.forWrites(tx);
              return isStill(tx, db, state)
                  ? new BuildTasks(db, index.number()).look(tx, state, holder)
                  : Look.NOTHING;
            });
    held = look.claimed();
    goal = Optional.empty();
    untouched = Optional.empty();
    return look.next();
  }

  /**
   * Gives back the task that is held, so that nobody has to wait until the claim has lapsed. A page
   * of it that is under way commits nothing. Any thread may do so.
   */
  void stop() {
    isStopped = true;
    held.ifPresent(this::giveBack);
  }

  private void giveBack(Task task) {
    try {
      transactions.<Void>run(
          tx -> {
            BuildTasks tasks = new BuildTasks(database.forWrites(tx), index.number());
            if (tasks.isStill(tx, task)) {
              tasks.put(tx, task.givenBack());
            }
            return null;
          });
    } catch (RuntimeException failure) {
      LOG.debug("A task is not given back", failure);
    }
  }

  /** What a page of a task writes beside its row. */
  private interface PageWriting {
    /** Returns the task as it is afterwards. */
    Task write(Transaction tx, DatabaseHandle db);
  }

  /**
   * Writes a page of a task, unless it was taken over. It conflicts with nobody but other holders
   * of the task, and whoever ends the phase.
   *
   * @return the task if it goes on
   */
  private Optional<Task> writePage(State state, Task task, PageWriting writing) {
    return transactions.run(
        tx -> {
          DatabaseHandle db = database.forWrites(tx);
          BuildTasks tasks = new BuildTasks(db, index.number());
          if (!isStill(tx, db, state) || !tasks.isStill(tx, task)) {
            return Optional.empty();
          }
          Task next = writing.write(tx, db);
          tasks.put(tx, next);
          return next.isDone() || !next.claim().isOf(holder) ? Optional.empty() : Optional.of(next);
        });
  }

  /** Writes the rows of some entries of a task's shard. */
  private Optional<Task> page(State state, Task task, OfShard of) {
    Optional<ShardPage> read =
        transactions.read(
            tx -> {
              DatabaseHandle db = database.of(tx);
              BuildTasks tasks = new BuildTasks(db, index.number());
              if (!isStill(tx, db, state) || !tasks.isStill(tx, task)) {
                return Optional.empty();
              }
              Sequence now = readVersion(tx, db);
              if (of.last().isEmpty() && tasks.isFirst(of.shard())) {
                // None of them was in any task before.
                untouched = Optional.of(now);
              }
              Entries entries = Entries.ofShard(tx, db, of, now, DOCUMENTS_OF_BUILD);
              return Optional.of(
                  new ShardPage(
                      documents.read(tx, db, entries, untouched),
                      now,
                      tasks.isReplaced(of.shard())));
            });
    if (read.isEmpty()) {
      return Optional.empty();
    }
    ShardPage page = read.get();
    goal = goal.or(() -> Optional.of(page.now()));
    List<Mapped> mapped =
        documents.map(transactions.read(database::of), page.batch().due(), ROWS_OF_BUILD);
    while (true) {
      try {
        List<Mapped> written = mapped;
        return writePage(
            state,
            task,
            (tx, db) -> {
              write(tx, db, written, Optional.empty());
              return after(task, of, page, page.batch().upTo(written), tx);
            });
      } catch (RuntimeException failure) {
        mapped = fewer(mapped, failure);
      }
    }
  }

  /**
   * A page of a shard's task.
   *
   * @param now as of when it was read
   * @param isReplaced whether the shard gets no more entries
   */
  private record ShardPage(Batch batch, Sequence now, boolean isReplaced) {}

  private Task after(Task task, OfShard of, ShardPage page, Batch written, Transaction tx) {
    if (written.isAll()) {
      Optional<Sequence> end = page.isReplaced() ? Optional.empty() : Optional.of(page.now());
      return task.done(new OfShard(of.shard(), end));
    }
    OfShard further = new OfShard(of.shard(), Optional.of(written.to()));
    return !page.isReplaced() && hasComeToGoal(written.to())
        ? task.done(further)
        : task.goesOn(further, Awaiting.await(tx.getReadVersion()));
  }

  /** Makes some nodes of a range anew: of one level after the other, as many as there is room. */
  private Optional<Task> nodes(State state, Task task) {
    OfRange range = (OfRange) task.work();
    ViewTree tree = tree(transactions.read(database::of), range.view());
    NodeReads reads = new NodeReads(state);
    List<Making> made = new ArrayList<>();
    NavigableMap<byte[], Optional<Child>> below = ViewTree.byPlace();
    OfRange next = range;
    boolean hasRoom = true;
    long end = System.nanoTime() + DueDocuments.MAPPING_NANOS;
    while (hasRoom) {
      Making making = tree.rebuilding(next.level(), next.next(), next.endOfLevel(), below);
      do {
        if (!reads.goesOn(making)) {
          return Optional.empty();
        }
      } while (!making.isEnd()
          && (making.changes().isEmpty()
              || (making.children() < CHILDREN
                  && making.madeBytes() < mostBytes
                  && System.nanoTime() - end < 0)));
      made.add(making);
      boolean isWhole = making.isEnd() && next.isAtBegin();
      hasRoom = isWhole && next.level() < range.last() && bytes(made) < mostBytes;
      next =
          making.isEnd()
              ? next.at(next.level() + 1, range.begin())
              : next.at(next.level(), making.unfinished());
      below = making.changes();
    }
    OfRange further = next;
    return writePage(
        state,
        task,
        (tx, db) -> {
          made.forEach(it -> it.write(tx));
          return further.isDone()
              ? task.done(further)
              : further.level() > range.last()
                  ? Task.open(further)
                  : task.goesOn(further, Awaiting.await(tx.getReadVersion()));
        });
  }

  private static long bytes(List<Making> made) {
    return made.stream().mapToLong(Making::madeBytes).sum();
  }

  static Sequence readVersion(ReadTransaction tx, DatabaseHandle db) {
    long version = Awaiting.await(tx.getReadVersion());
    return new Sequence(db.incarnation(), Versionstamp.upTo(version).bytes());
  }

  private ViewRows rows(DatabaseHandle db) {
    return new ViewRows(db, index.number(), definition.partitioned());
  }

  /** Thrown if nodes become so large that all are better made anew. */
  private static final class TooMuch extends RuntimeException {
    TooMuch() {
      super("The nodes take too much of a transaction", null, false, false);
    }
  }

  private Done write(Found found, boolean keepsNodes) {
    DatabaseHandle db = transactions.read(database::of);
    List<Mapped> mapped = documents.map(db, found.batch().due(), keepsNodes ? ROWS : ROWS_OF_BUILD);
    boolean hasNodes = keepsNodes;
    while (true) {
      try {
        return write(found, mapped, hasNodes);
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
    if (one.emitted().refused().isPresent()) {
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

  private Done write(Found found, List<Mapped> mapped, boolean keepsNodes) {
    Batch written = found.batch().upTo(mapped);
    State from = found.state();
    Optional<List<Making>> nodes = keepsNodes ? Optional.of(nodes(from, mapped)) : Optional.empty();
    State next = next(from, written, keepsNodes);
    Done done = move(from, next, (tx, current) -> write(tx, current, mapped, nodes));
    boolean isWritten = done.state().orElseThrow() == next;
    return new Done(done.state(), isWritten && written.isAll() && next.isSettled(), false);
  }

  private boolean hasComeToGoal(Sequence to) {
    return goal.filter(it -> to.compareTo(it) >= 0).isPresent();
  }

  private State next(State from, Batch written, boolean hasNodes) {
    Sequence to = written.to();
    if (from.phase() == Phase.GONE) {
      Sequence upTo = from.upTo().orElseThrow();
      return written.isAll() ? State.of(Phase.BUILDING, upTo) : State.gone(upTo, Optional.of(to));
    }
    if (hasNodes) {
      return State.of(Phase.SETTLED, to);
    }
    return State.of(written.isAll() || hasComeToGoal(to) ? Phase.ROWS : Phase.BUILDING, to);
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
    DatabaseHandle db = transactions.read(database::of);
    NodeReads reads = new NodeReads(state);
    List<Making> all = new ArrayList<>();
    long bytes = 0;
    for (Map.Entry<Integer, NavigableMap<byte[], Optional<Emitted>>> view :
        changed(mapped).entrySet()) {
      ViewTree tree = tree(db, view.getKey());
      NavigableMap<byte[], Optional<Child>> below = ViewTree.children(view.getValue());
      for (int level = 1; level <= ViewTree.TOP; level++) {
        Making making = tree.changing(level, below);
        while (!making.isEnd()) {
          if (!reads.goesOn(making)) {
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

  /**
   * Reads what nodes are made of, as long as nobody moves the index on: at one version for as long
   * as the store keeps it, so that the state is looked at once.
   */
  private final class NodeReads {
    private final State state;
    private OptionalLong version = OptionalLong.empty();

    NodeReads(State state) {
      this.state = state;
    }

    /** Makes some nodes; returns false if another server was faster. */
    boolean goesOn(Making making) {
      Optional<Part> part = transactions.readAt(version, tx -> read(tx, making));
      part.ifPresent(making::take);
      return part.isPresent();
    }

    private Optional<Part> read(ReadTransaction tx, Making making) {
      OptionalLong at = OptionalLong.of(Awaiting.await(tx.getReadVersion()));
      if (!at.equals(version) && !isStill(tx, database.of(tx), state)) {
        return Optional.empty();
      }
      version = at;
      return Optional.of(making.load(tx));
    }
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

  /**
   * @param nodes empty: they are made later, of the rows and of what is marked
   */
  private void write(
      Transaction tx, DatabaseHandle db, List<Mapped> mapped, Optional<List<Making>> nodes) {
    ViewRows rows = rows(db);
    changed(mapped)
        .forEach(
            (view, changed) -> {
              ViewTree tree = tree(db, view);
              changed.forEach(
                  (place, row) -> {
                    rows.put(tx, view, 0, place, row.map(ViewRows::encode));
                    if (nodes.isEmpty() && tree.levelOf(place) >= ViewTree.MARKED) {
                      rows.mark(tx, view, place, row.isPresent());
                    }
                  });
            });
    for (Mapped each : mapped) {
      String id = each.due().id();
      each.emitted()
          .refused()
          .ifPresent(why -> LOG.info("Views of {} refuse {}: {}", db.name(), id, why.reason()));
      if (!each.due().had().isEmpty()) {
        rows.clearPlaces(tx, id);
      }
      rows.putPlaces(tx, id, each.emitted().places());
      if (each.due().mayBeRefused() || each.emitted().refused().isPresent()) {
        rows.putRefusal(tx, id, each.emitted().refused());
      }
    }
    nodes.orElse(List.of()).forEach(it -> it.write(tx));
  }
}
