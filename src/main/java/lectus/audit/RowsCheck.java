package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import lectus.audit.Reading.RowCursor;
import lectus.json.MalformedTupleException;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.store.Awaiting;

/**
 * Reports rows of one place that cannot be read, and those that belong to nothing.
 *
 * @param removal which of them a repair removes
 */
record RowsCheck(Reading reading, AuditReport report, String place, Removal removal) {
  /** The most keys reported of one gap; the others would look the same. */
  private static final int MAX_NAMED = 10;

  /** Rows that are compared together at most. */
  private static final int COMPARED_AT_ONCE = 500;

  /** Which rows may go. */
  enum Removal {
    /** All: they are made from others, or say nothing that is missed. */
    ALL,
    /** Those that repeat the row before them under a longer key. */
    STRAYS
  }

  RowsCheck(Reading reading, AuditReport report, String place) {
    this(reading, report, place, Removal.STRAYS);
  }

  /** Rows that are made from others, or that nobody misses. */
  RowsCheck derived() {
    return new RowsCheck(reading, report, place, Removal.ALL);
  }

  /**
   * Checks that each row of a range can be read.
   *
   * @param what names a row that cannot be read
   */
  void each(String what, Range range, Consumer<KeyValue> decoder) {
    each(what, range, decoder, row -> {});
  }

  /**
   * Checks each row of a range, and compares those that can be read with others.
   *
   * @param what names a row that cannot be read
   */
  void each(String what, Range range, Consumer<KeyValue> decoder, Consumer<KeyValue> comparison) {
    compare(
        what,
        range,
        decoder,
        rows -> {
          comparison.accept(rows.get(0));
          return 1;
        },
        1);
  }

  /**
   * Like {@link #each}, with small rows that are compared together.
   *
   * @param comparison returns how many of the first rows it has compared
   */
  void together(
      String what,
      Range range,
      Consumer<KeyValue> decoder,
      ToIntFunction<List<KeyValue>> comparison) {
    compare(what, range, decoder, comparison, COMPARED_AT_ONCE);
  }

  private void compare(
      String what,
      Range range,
      Consumer<KeyValue> decoder,
      ToIntFunction<List<KeyValue>> comparison,
      int atOnce) {
    RowCursor rows = new RowCursor(reading, range);
    List<KeyValue> readable = new ArrayList<>(atOnce);
    while (rows.hasNext()) {
      KeyValue row = rows.next();
      try {
        decoder.accept(row);
        readable.add(row);
      } catch (MalformedTupleException | IllegalArgumentException malformed) {
        reportUnreadable(what, row, malformed);
      }
      if (readable.size() == atOnce) {
        compare(what, readable, comparison);
        readable.clear();
      }
    }
    compare(what, readable, comparison);
  }

  /** Where rows cannot be compared together, one of them is the cause: each is compared alone. */
  private void compare(String what, List<KeyValue> rows, ToIntFunction<List<KeyValue>> comparison) {
    int next = 0;
    int most = rows.size();
    while (next < rows.size()) {
      List<KeyValue> some = rows.subList(next, Math.min(rows.size(), next + most));
      try {
        next += comparison.applyAsInt(some);
      } catch (MalformedTupleException | IllegalArgumentException other) {
        if (some.size() == 1) {
          String why = " cannot be compared (" + other.getMessage() + "), the key ";
          report.add(place, what + why + Texts.key(some.get(0).getKey()));
          next++;
        }
        most = 1;
      }
    }
  }

  /** What a later version wrote is not to be removed. */
  void reportUnreadable(String what, KeyValue row, RuntimeException why) {
    Optional<Repair> repair =
        why instanceof NewerFormatException ? Optional.empty() : repairOf(row);
    report.add(place, Texts.unreadable(what, row.getKey(), why), repair);
  }

  private Optional<Repair> repairOf(KeyValue row) {
    return removal == Removal.ALL || reading.<Boolean>read(tx -> isStray(tx, row))
        ? Optional.of(Repair.removing(row))
        : Optional.empty();
  }

  /**
   * Whether the row repeats another, under its key and something more. Other rows under that key
   * may come between them.
   */
  static boolean isStray(ReadTransaction tx, KeyValue row) {
    byte[] key = row.getKey();
    List<KeyValue> before = Awaiting.await(tx.getRange(new byte[0], key, 1, true).asList());
    if (before.isEmpty()) {
      return false;
    }
    byte[] shared = Arrays.copyOf(key, Arrays.mismatch(key, before.get(0).getKey()));
    return Awaiting.await(tx.get(shared)) != null;
  }

  /**
   * Reports keys between the known ranges.
   *
   * @param whole the range that may hold nothing else
   * @param known ranges in it, none inside another
   * @param what the description of a key in a gap
   */
  void others(Range whole, List<Range> known, String what) {
    List<Range> sorted = new ArrayList<>(known);
    sorted.sort(Comparator.comparing(range -> range.begin, ByteArrayUtil::compareUnsigned));
    byte[] begin = whole.begin;
    for (Range range : sorted) {
      gap(new Range(begin, range.begin), what);
      begin = range.end;
    }
    gap(new Range(begin, whole.end), what);
  }

  private void gap(Range gap, String what) {
    if (ByteArrayUtil.compareUnsigned(gap.begin, gap.end) >= 0) {
      return;
    }
    List<KeyValue> rows =
        reading.read(tx -> Awaiting.await(tx.getRange(gap, MAX_NAMED + 1).asList()));
    for (KeyValue row : rows.subList(0, Math.min(rows.size(), MAX_NAMED))) {
      report.add(place, what + ", the key " + Texts.key(row.getKey()), repairOf(row));
    }
    if (rows.size() > MAX_NAMED) {
      report.add(place, what + ", and more of them behind that");
    }
  }
}
