package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.LeaseSubspace.Claim;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.State;

/**
 * The tasks of the build of one index (RFC 018, Indexers). At first there is one for each changes
 * shard that has entries, which has a row once somebody has claimed it; it writes rows. Later there
 * is one for each range of a view's rows; it makes the nodes above them.
 *
 * <pre>
 * key    (prefix, VIEWS, 3, number, shard id)
 * value  (format 1, done, holder, version[, Incarnation, Versionstamp])
 * key    (prefix, VIEWS, 3, number, view[, place…])
 * value  (format 1, done, holder, version, level, place)
 * </pre>
 *
 * The claim is part of the row, which each page of the task reads with a conflict and writes. So a
 * holder that slept while another took over commits nothing.
 *
 * <p>The tasks of a generation of shards begin when those of the generations before have ended, so
 * no document is in two tasks: it may move from one generation to the next, but never between
 * shards of one. A range begins at a row that begins a node of {@link ViewTree#MARKED}, so up to
 * this level no node has children in two ranges. The levels above belong to the first range, once
 * the others of its view have ended.
 */
final class BuildTasks {
  /** About twenty seconds: longer than a page takes, of which maps have two. */
  private static final long LIFE_VERSIONS = 20_000_000;

  static final Claim NOBODY = new Claim(new byte[0], 0);

  private static final StoredFormat FORMAT = new StoredFormat(1, "A task of a view's build");

  private final DatabaseHandle db;
  private final byte[] prefix;

  BuildTasks(DatabaseHandle db, long number) {
    this.db = db;
    this.prefix = DatabaseSubspace.VIEWS.key(db.prefix()).integer(3).integer(number).toBytes();
  }

  /** What a task does, and how far it is. */
  sealed interface Work {}

  /**
   * Writes the rows of a shard's documents.
   *
   * @param last up to where its entries are in the index; empty: from the first. Of a task that is
   *     done: the entries of its shard may go on behind it; empty: nothing can come any more
   */
  record OfShard(ShardId shard, Optional<Sequence> last) implements Work {}

  /**
   * Makes the nodes that begin in a range of places, level by level.
   *
   * @param end where the next range begins; empty: it is the last one of the view
   * @param level of which nodes are made next
   * @param next where the next of them begins
   */
  record OfRange(int view, byte[] begin, Optional<byte[]> end, int level, byte[] next)
      implements Work {
    static OfRange of(int view, byte[] begin) {
      return new OfRange(view, begin, Optional.empty(), 1, begin);
    }

    OfRange at(int level, byte[] next) {
      return new OfRange(view, begin, end, level, next);
    }

    private boolean isWholeView() {
      return begin.length == 0 && end.isEmpty();
    }

    private boolean isAbove() {
      return level > ViewTree.MARKED;
    }

    /** Whether no node of its level is made. */
    boolean isAtBegin() {
      return Arrays.equals(begin, next);
    }

    /** Returns where the nodes of its level end. */
    Optional<byte[]> endOfLevel() {
      return isAbove() ? Optional.empty() : end;
    }

    /** Returns the highest level that can be made now. */
    int last() {
      return isAbove() || isWholeView() ? ViewTree.TOP : ViewTree.MARKED;
    }

    boolean isDone() {
      return level > (begin.length == 0 ? ViewTree.TOP : ViewTree.MARKED);
    }
  }

  record Task(Work work, boolean isDone, Claim claim) {
    static Task open(Work work) {
      return new Task(work, false, NOBODY);
    }

    Task goesOn(Work further, long version) {
      return new Task(further, false, new Claim(claim.holder(), version));
    }

    Task givenBack() {
      return new Task(work, isDone, NOBODY);
    }

    Task done(Work whole) {
      return new Task(whole, true, claim);
    }
  }

  /**
   * What there is to do.
   *
   * @param claimed a task that nobody else performs; empty: others perform all that are left
   * @param next once all are done: the state of the index that follows
   */
  record Look(Optional<Task> claimed, Optional<State> next) {
    static final Look NOTHING = new Look(Optional.empty(), Optional.empty());
  }

  Look look(Transaction tx, State state, byte[] holder) {
    return state.phase() == Phase.TASKS
        ? lookAtShards(tx, holder)
        : lookAtRanges(tx, state, holder);
  }

  private Look lookAtShards(Transaction tx, byte[] holder) {
    CompletableFuture<Set<ShardId>> filled = DatabaseCounters.filledShards(tx.snapshot(), db);
    Map<ShardId, Task> begun = new HashMap<>();
    for (Task task : all(tx.snapshot())) {
      if (task.work instanceof OfShard of) {
        begun.put(of.shard, task);
      }
    }
    for (Generation generation : db.topology().generations()) {
      List<Task> open = new ArrayList<>();
      for (ShardId shard : generation.shards()) {
        Task task = begun.getOrDefault(shard, Task.open(new OfShard(shard, Optional.empty())));
        if (!task.isDone && (shard.isDeprecated() || Awaiting.await(filled).contains(shard))) {
          open.add(task);
        }
      }
      if (!open.isEmpty()) {
        return new Look(claim(tx, open, holder), Optional.empty());
      }
    }
    Sequence end = IndexStep.readVersion(tx, db);
    for (Task task : begun.values()) {
      end = earlier(end, ((OfShard) task.work).last);
    }
    return new Look(Optional.empty(), Optional.of(State.gone(end, Optional.empty())));
  }

  private static Sequence earlier(Sequence one, Optional<Sequence> other) {
    return other.filter(it -> it.compareTo(one) < 0).orElse(one);
  }

  private Look lookAtRanges(Transaction tx, State state, byte[] holder) {
    List<Task> all = all(tx.snapshot());
    if (all.stream().allMatch(Task::isDone)) {
      State settled = State.of(Phase.SETTLED, state.upTo().orElseThrow());
      return new Look(Optional.empty(), Optional.of(settled));
    }
    List<Task> open = new ArrayList<>();
    for (Task task : all) {
      OfRange range = (OfRange) task.work;
      Predicate<Task> isInTheWay =
          it -> it != task && !it.isDone && ((OfRange) it.work).view == range.view;
      if (!task.isDone && !(range.isAbove() && all.stream().anyMatch(isInTheWay))) {
        open.add(task);
      }
    }
    return new Look(claim(tx, open, holder), Optional.empty());
  }

  private Optional<Task> claim(Transaction tx, List<Task> open, byte[] holder) {
    long now = Awaiting.await(tx.getReadVersion());
    List<Task> free = new ArrayList<>(open);
    free.removeIf(it -> isHeld(it, holder, now));
    Collections.shuffle(free);
    return free.stream().findFirst().map(it -> claim(tx, it, holder, now));
  }

  private static boolean isHeld(Task task, byte[] holder, long now) {
    return !task.claim.isOf(holder)
        && task.claim.holder().length > 0
        && task.claim.isYoungerThan(LIFE_VERSIONS, now);
  }

  private Task claim(Transaction tx, Task task, byte[] holder, long now) {
    // Of two who claim it at once, one commits.
    Awaiting.await(tx.get(key(task.work)));
    Task claimed = new Task(task.work, false, new Claim(holder, now));
    put(tx, claimed);
    return claimed;
  }

  /** Whether nobody has written to the task since. */
  boolean isStill(ReadTransaction tx, Task task) {
    return Arrays.equals(Awaiting.await(tx.get(key(task.work))), encode(task));
  }

  /** Whether somebody performs a task. */
  boolean arePerformed(ReadTransaction tx) {
    long now = Awaiting.await(tx.getReadVersion());
    return all(tx).stream()
        .anyMatch(it -> !it.isDone && it.claim.isYoungerThan(LIFE_VERSIONS, now));
  }

  /** Whether the shard is of the first generation, so that no document was in another before. */
  boolean isFirst(ShardId shard) {
    return db.topology().generations().get(0).shards().contains(shard);
  }

  /** Whether the shard can get no more entries. */
  boolean isReplaced(ShardId shard) {
    return !db.topology().current().shards().contains(shard);
  }

  void put(Transaction tx, Task task) {
    tx.set(key(task.work), encode(task));
  }

  void clear(Transaction tx) {
    tx.clear(Range.startsWith(prefix));
  }

  /** Returns those that have a row. */
  List<Task> all(ReadTransaction tx) {
    List<Task> all = new ArrayList<>();
    List<KeyValue> rows = Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList());
    for (int i = rows.size() - 1; i >= 0; i--) {
      Optional<Task> behind =
          all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
      all.add(decode(rows.get(i), prefix.length, behind.map(Task::work)));
    }
    Collections.reverse(all);
    return all;
  }

  /**
   * Checks that a row can be read.
   *
   * @param begin where what tells the task begins in its key
   * @throws lectus.json.MalformedTupleException it cannot
   */
  static void check(KeyValue row, int begin) {
    decode(row, begin, Optional.empty());
  }

  /**
   * @param behind what the next task does
   */
  private static Task decode(KeyValue row, int begin, Optional<Work> behind) {
    TupleReader key = new TupleReader(row.getKey(), begin);
    TupleReader value = FORMAT.reader(row.getValue());
    boolean isDone = value.bool();
    Claim claim = new Claim(value.bytes(), value.integer());
    Work work = key.isString() ? ofShard(key, value) : ofRange(key, value, behind);
    key.end();
    value.end();
    return new Task(work, isDone, claim);
  }

  private static Work ofShard(TupleReader key, TupleReader value) {
    return new OfShard(
        new ShardId(key.string()),
        value.hasNext() ? Optional.of(Sequence.readFrom(value)) : Optional.empty());
  }

  private static Work ofRange(TupleReader key, TupleReader value, Optional<Work> behind) {
    int view = key.smallInteger();
    Optional<byte[]> end =
        behind.map(OfRange.class::cast).filter(it -> it.view == view).map(OfRange::begin);
    return new OfRange(view, key.rest(), end, value.smallInteger(), value.bytes());
  }

  private static byte[] encode(Task task) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).bool(task.isDone);
    value.bytes(task.claim.holder()).integer(task.claim.version());
    if (task.work instanceof OfRange range) {
      value.integer(range.level).bytes(range.next);
    } else {
      ((OfShard) task.work).last.ifPresent(it -> it.writeTo(value));
    }
    return value.toBytes();
  }

  private byte[] key(Work work) {
    TupleWriter key = new TupleWriter(prefix);
    return work instanceof OfRange range
        ? key.integer(range.view).raw(range.begin).toBytes()
        : key.string(((OfShard) work).shard.text()).toBytes();
  }
}
