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
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology.Generation;
import lectus.database.StatisticsSubspace.DatabaseCounters;
import lectus.store.Awaiting;
import lectus.store.LeaseSubspace.Claim;
import lectus.tuple.StoredFormat;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleWriter;

/**
 * The tasks of the build of one index (RFC 018, Indexers): one for each changes shard that has
 * entries. A task has a row once somebody has claimed it.
 *
 * <pre>
 * key    (prefix, VIEWS, 3, number, shard id)
 * value  (format 1, done, holder, version[, Incarnation, Versionstamp])
 * </pre>
 *
 * The claim is part of the row, which each page of the task reads with a conflict and writes. So a
 * holder that slept while another took over commits nothing. The tasks of a generation begin when
 * those of the generations before have ended, so no document is in two tasks: it may move from one
 * generation to the next, but never between shards of one.
 */
final class ShardTasks {
  /** About twenty seconds: longer than a page takes, of which maps have two. */
  private static final long LIFE_VERSIONS = 20_000_000;

  static final Claim NOBODY = new Claim(new byte[0], 0);

  private static final StoredFormat FORMAT = new StoredFormat(1, "A task of a view's build");

  private final DatabaseHandle db;
  private final byte[] prefix;

  ShardTasks(DatabaseHandle db, long number) {
    this.db = db;
    this.prefix = DatabaseSubspace.VIEWS.key(db.prefix()).integer(3).integer(number).toBytes();
  }

  /**
   * A task.
   *
   * @param last up to where its entries are in the index; empty: from the first. Of a task that is
   *     done: the entries of its shard may go on behind it; empty: nothing can come any more
   */
  record Task(ShardId shard, boolean isDone, Claim claim, Optional<Sequence> last) {
    Task upTo(Sequence sequence, long version) {
      return new Task(shard, false, new Claim(claim.holder(), version), Optional.of(sequence));
    }

    Task givenBack() {
      return new Task(shard, isDone, NOBODY, last);
    }

    /**
     * @param end empty if the shard takes no more entries
     */
    Task done(Optional<Sequence> end) {
      return new Task(shard, true, claim, end);
    }
  }

  /**
   * What there is to do.
   *
   * @param claimed a task that nobody else performs; empty: others perform all that are left
   * @param end once all are done: up to where all documents are in the index
   */
  record Look(Optional<Task> claimed, Optional<Sequence> end) {}

  /** Claims some task. */
  Look look(Transaction tx, byte[] holder) {
    CompletableFuture<Set<ShardId>> filled = DatabaseCounters.filledShards(tx, db);
    long now = Awaiting.await(tx.getReadVersion());
    Map<ShardId, Task> begun = all(tx.snapshot());
    for (Generation generation : db.topology().generations()) {
      List<Task> open = new ArrayList<>();
      for (ShardId shard : generation.shards()) {
        Task task = begun.getOrDefault(shard, new Task(shard, false, NOBODY, Optional.empty()));
        if (!task.isDone && (shard.isDeprecated() || Awaiting.await(filled).contains(shard))) {
          open.add(task);
        }
      }
      if (!open.isEmpty()) {
        open.removeIf(it -> isHeld(it, holder, now));
        Collections.shuffle(open);
        return new Look(
            open.stream().findFirst().map(it -> claim(tx, it, holder, now)), Optional.empty());
      }
    }
    Sequence end = IndexStep.readVersion(tx, db);
    for (Task task : begun.values()) {
      end = earlier(end, task.last);
    }
    return new Look(Optional.empty(), Optional.of(end));
  }

  private static Sequence earlier(Sequence one, Optional<Sequence> other) {
    return other.filter(it -> it.compareTo(one) < 0).orElse(one);
  }

  private static boolean isHeld(Task task, byte[] holder, long now) {
    return !task.claim.isOf(holder)
        && task.claim.holder().length > 0
        && task.claim.isYoungerThan(LIFE_VERSIONS, now);
  }

  private Task claim(Transaction tx, Task task, byte[] holder, long now) {
    // Of two who claim it at once, one commits.
    Awaiting.await(tx.get(key(task.shard)));
    Task claimed = new Task(task.shard, false, new Claim(holder, now), task.last);
    put(tx, claimed);
    return claimed;
  }

  /** Whether nobody has written to the task since. */
  boolean isStill(ReadTransaction tx, Task task) {
    return Arrays.equals(Awaiting.await(tx.get(key(task.shard))), encode(task));
  }

  /** Whether somebody performs a task. */
  boolean arePerformed(ReadTransaction tx) {
    long now = Awaiting.await(tx.getReadVersion());
    return all(tx).values().stream()
        .anyMatch(it -> !it.isDone && it.claim.isYoungerThan(LIFE_VERSIONS, now));
  }

  /** Whether the shard can get no more entries. */
  boolean isReplaced(ShardId shard) {
    return !db.topology().current().shards().contains(shard);
  }

  void put(Transaction tx, Task task) {
    tx.set(key(task.shard), encode(task));
  }

  void clear(Transaction tx) {
    tx.clear(Range.startsWith(prefix));
  }

  private Map<ShardId, Task> all(ReadTransaction tx) {
    Map<ShardId, Task> all = new HashMap<>();
    for (KeyValue row : Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList())) {
      ShardId shard =
          new ShardId(new TupleReader(row.getKey(), prefix.length).only(TupleReader::string));
      all.put(shard, decode(shard, row.getValue()));
    }
    return all;
  }

  /**
   * Checks that a value can be read.
   *
   * @throws lectus.tuple.MalformedTupleException it cannot
   */
  static void check(byte[] value) {
    decode(ShardId.DEPRECATED, value);
  }

  private static Task decode(ShardId shard, byte[] value) {
    TupleReader reader = FORMAT.reader(value);
    boolean isDone = reader.bool();
    Claim claim = new Claim(reader.bytes(), reader.integer());
    Optional<Sequence> last =
        reader.hasNext() ? Optional.of(Sequence.readFrom(reader)) : Optional.empty();
    reader.end();
    return new Task(shard, isDone, claim, last);
  }

  private static byte[] encode(Task task) {
    TupleWriter value = new TupleWriter(64).integer(FORMAT.number()).bool(task.isDone);
    value.bytes(task.claim.holder()).integer(task.claim.version());
    task.last.ifPresent(it -> it.writeTo(value));
    return value.toBytes();
  }

  private byte[] key(ShardId shard) {
    return TupleWriter.startingWith(prefix).string(shard.text()).toBytes();
  }
}
