package lectus.document.write;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Awaiting;
import lectus.store.RootSubspace;

/**
 * Which version the store had reached at which time. What was committed at an earlier version was
 * there at that time, so its age is never taken for more than it is, unless clocks are wrong.
 *
 * <pre>
 * key    (root, TIMES, level, number of the period since 1970)
 * value  (format 1, seconds since 1970, read version): the first of the period, on levels above 0
 * </pre>
 *
 * Older times are known less exactly: periods are short on level 0, an hour on level 1 and a day on
 * level 2.
 */
public final class TimesSubspace {
  /** One row of some seconds of the past. */
  public record Time(long seconds, long version) {}

  private static final StoredFormat FORMAT = new StoredFormat(1, "A time of the store");
  private static final long DAY = TimeUnit.DAYS.toSeconds(1);
  private static final long[] PERIODS = {1, TimeUnit.HOURS.toSeconds(1), DAY};
  private static final long[] KEPT = {2 * DAY, 60 * DAY, Long.MAX_VALUE};

  /** A day, at about a million versions a second. */
  private static final long DAY_VERSIONS = DAY * 1_000_000;

  private final byte[] root;

  public TimesSubspace(byte[] root) {
    this.root = root;
  }

  /**
   * Notes the transaction's read version. Nothing is noted while the clock is behind an earlier
   * row: one of the two clocks is wrong. After a day of that all rows are forgotten, and ages count
   * anew.
   */
  void note(Transaction tx, long seconds) {
    long version = Awaiting.await(tx.getReadVersion());
    List<Time> newest = last(tx, 0, Long.MAX_VALUE);
    if (!newest.isEmpty() && newest.get(0).seconds() >= seconds) {
      if (version - newest.get(0).version() < DAY_VERSIONS) {
        return;
      }
      tx.clear(RootSubspace.TIMES.range(root));
    }
    for (int level = 0; level < PERIODS.length; level++) {
      note(tx, level, new Time(seconds, version));
    }
  }

  private void note(Transaction tx, int level, Time time) {
    byte[] key = key(level, time.seconds() / PERIODS[level]);
    if (Awaiting.await(tx.get(key)) == null) {
      put(tx, level, time);
    }
    long oldest = Math.max(0, time.seconds() - KEPT[level]) / PERIODS[level];
    tx.clear(key(level, 0), key(level, oldest));
  }

  void put(Transaction tx, int level, Time time) {
    TupleWriter value = new TupleWriter(32).integer(FORMAT.number());
    tx.set(
        key(level, time.seconds() / PERIODS[level]),
        value.integer(time.seconds()).integer(time.version()).toBytes());
  }

  /** Returns a version that the store had reached at that time; empty if none is known. */
  OptionalLong versionAt(ReadTransaction tx, long seconds) {
    List<Time> before = new ArrayList<>();
    for (int level = 0; level < PERIODS.length; level++) {
      before.addAll(last(tx, level, seconds / PERIODS[level]));
    }
    return before.stream().filter(time -> time.seconds() <= seconds).mapToLong(Time::version).max();
  }

  /** Returns the last two rows up to a period: the last may be of a later second of it. */
  private List<Time> last(ReadTransaction tx, int level, long period) {
    byte[] end = period == Long.MAX_VALUE ? key(level + 1, 0) : key(level, period + 1);
    CompletableFuture<List<KeyValue>> rows = tx.getRange(key(level, 0), end, 2, true).asList();
    return Awaiting.await(rows).stream().map(this::decode).toList();
  }

  public Range range() {
    return RootSubspace.TIMES.range(root);
  }

  public Time decode(KeyValue row) {
    TupleReader key = new TupleReader(row.getKey(), RootSubspace.TIMES.key(root).length());
    key.smallInteger();
    key.only(TupleReader::integer);
    return FORMAT.reader(row.getValue()).only(it -> new Time(it.integer(), it.integer()));
  }

  private byte[] key(int level, long period) {
    return RootSubspace.TIMES.key(root).integer(level).integer(period).toBytes();
  }
}
