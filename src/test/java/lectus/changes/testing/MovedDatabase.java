package lectus.changes.testing;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseSubspace;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.Sequence;
import lectus.store.Awaiting;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;
import lectus.store.Versionstamp;

/**
 * A copy of a small database, as if it had been written in another store: all versions in its rows
 * are shifted far away from those of this store, and it is written under the next incarnation.
 */
public final class MovedDatabase {
  /** Far above all versions of this store. */
  public static final long ABOVE = 1L << 60;

  /** Prefixes are numbers; these have two bytes. */
  private static final int LONG_PREFIX = 3;

  /** A code of the tuple encoding. */
  private static final byte VERSIONSTAMP = 0x33;

  /** What is derived, or of this store alone. */
  private static final Set<DatabaseSubspace> LEFT =
      Set.of(
          DatabaseSubspace.JOB_TASKS,
          DatabaseSubspace.GONE,
          DatabaseSubspace.VIEWS,
          DatabaseSubspace.VIEW_ROWS);

  private final DatabaseHandle source;
  private final long shift;
  private final long last;

  private MovedDatabase(DatabaseHandle source, long shift, long last) {
    this.source = source;
    this.shift = shift;
    this.last = last;
  }

  /**
   * Uses up short prefixes of databases. Sizes of bodies count their keys, so a copy has those of
   * its source only if both prefixes are equally long.
   *
   * @return the same store
   */
  public static Store withLongPrefixes(Store store) {
    TransactionRunner transactions = new TransactionRunner(store, TransactionLimits.DEFAULT);
    List<String> path = List.of("unused");
    int length = 0;
    while (length < LONG_PREFIX) {
      length =
          transactions.run(
              tx -> {
                byte[] prefix = Awaiting.await(store.directory().create(tx, path)).getKey();
                Awaiting.await(store.directory().remove(tx, path));
                return prefix.length;
              });
    }
    return store;
  }

  /** Returns a shift to versions that begin with {@code first}, below those of this store. */
  public static long below(DatabaseHandle source, long first) {
    return first - source.joined().version();
  }

  /**
   * Copies a database.
   *
   * @param shift is added to each version that its rows were given in this store
   * @return the copy's description of what was moved, to translate its sequences
   */
  public static MovedDatabase copy(
      TransactionRunner transactions,
      Catalogue catalogue,
      DatabaseName from,
      DatabaseName to,
      long shift) {
    return transactions.run(
        tx -> {
          DatabaseHandle source = catalogue.current(tx, from);
          long now = Awaiting.await(tx.getReadVersion());
          MovedDatabase moved = new MovedDatabase(source, shift, now);
          moved.copy(tx, catalogue, to);
          return moved;
        });
  }

  private void copy(Transaction tx, Catalogue catalogue, DatabaseName to) {
    List<Incarnation> history = new ArrayList<>();
    for (Incarnation each : source.incarnations().all()) {
      Versionstamp begun = new Versionstamp(moved(each.begun().bytes(), 0));
      history.add(
          new Incarnation(each.number(), each.origin(), begun, each.last().map(this::moved)));
    }
    DatabaseInstance life =
        catalogue.prepare(tx, to, source.configuration(), source.topology(), history);
    tx.clear(DatabaseSubspace.CONFIG.range(life.prefix()));
    for (KeyValue row : tx.getRange(Range.startsWith(source.prefix()))) {
      if (isCopied(row.getKey())) {
        byte[] below =
            Arrays.copyOfRange(row.getKey(), source.prefix().length, row.getKey().length);
        tx.set(joined(life.prefix(), moved(below)), moved(row.getValue()));
      }
    }
    Optional<Sequence> end = Awaiting.await(new UpdateSequence(source).read(tx)).map(this::moved);
    catalogue.appear(tx, life, source.createdAtSeconds(), Origin.MOVED, end);
  }

  private boolean isCopied(byte[] key) {
    return LEFT.stream().map(it -> it.range(source.prefix())).noneMatch(it -> isIn(key, it));
  }

  private static boolean isIn(byte[] key, Range range) {
    return Arrays.compareUnsigned(key, range.begin) >= 0
        && Arrays.compareUnsigned(key, range.end) < 0;
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  /** Returns the sequence that a change of the source has in the copy. */
  public Sequence moved(Sequence sequence) {
    return new Sequence(sequence.incarnation(), moved(sequence.versionstamp(), 0));
  }

  private byte[] moved(byte[] bytes) {
    byte[] all = bytes;
    for (int i = 0; i + Versionstamp.LENGTH < all.length; i++) {
      all = all[i] == VERSIONSTAMP ? moved(all, i + 1) : all;
    }
    return all;
  }

  /** Shifts what stands at a place if it is a version that this store gave a row of the source. */
  private byte[] moved(byte[] bytes, int at) {
    long version = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      version = version << Byte.SIZE | (bytes[at + i] & 0xff);
    }
    if (version < source.joined().version() || version > last) {
      return bytes;
    }
    byte[] moved = bytes.clone();
    for (int i = 0; i < Long.BYTES; i++) {
      moved[at + i] = (byte) ((version + shift) >>> (Long.SIZE - Byte.SIZE * (i + 1)));
    }
    return moved;
  }
}
