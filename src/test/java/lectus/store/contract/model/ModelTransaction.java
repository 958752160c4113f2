package lectus.store.contract.model;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * One transaction of the model: the rows at its read version, its writes in order, and what it must
 * and may conflict with.
 */
final class ModelTransaction {
  /** The kinds of keys that a transaction's own writes produce (section 5). */
  private enum Kind {
    UNMODIFIED,
    OWN,
    DEPENDENT,
    UNREADABLE
  }

  private final long readVersion;
  private final NavigableMap<byte[], byte[]> base;
  private final List<Write> writes = new ArrayList<>();
  private final List<Span> writeConflicts = new ArrayList<>();
  private final List<Span> certainReads = new ArrayList<>();
  private final List<Span> possibleReads = new ArrayList<>();
  private final boolean readYourWrites;
  private boolean snapshotReadYourWrites = true;
  private boolean nextWriteHasNoConflict;
  private boolean readUnreadable;

  ModelTransaction(History history, long readVersion, boolean readYourWrites) {
    this.readVersion = readVersion;
    this.readYourWrites = readYourWrites;
    this.base = history.at(readVersion);
  }

  long readVersion() {
    return readVersion;
  }

  List<Write> writes() {
    return writes;
  }

  List<Span> writeConflicts() {
    return writeConflicts;
  }

  boolean isReadOnly() {
    return writes.isEmpty() && writeConflicts.isEmpty();
  }

  void disableSnapshotReadYourWrites() {
    snapshotReadYourWrites = false;
  }

  void nextWriteHasNoConflict() {
    nextWriteHasNoConflict = true;
  }

  void write(Write write) {
    boolean withoutConflict = nextWriteHasNoConflict;
    nextWriteHasNoConflict = false;
    if (write instanceof Write.Erase erase && erase.keys().isEmpty()) {
      return;
    }
    writes.add(write);
    if (!withoutConflict && !(write instanceof Write.StampedKey)) {
      writeConflicts.add(reach(write));
    }
  }

  void addWriteConflict(Span span) {
    writeConflicts.add(span);
  }

  /** Adds a read that conflicts with exactly this span, except for own writes. */
  void addReadConflict(Span span) {
    addTo(certainReads, span, false);
    addTo(possibleReads, span, true);
  }

  /** Adds a read whose exact conflict range the contract leaves open. */
  void mayConflict(Span span) {
    addTo(possibleReads, span, true);
  }

  /** Notes that a read failed with accessed_unreadable, which fails the commit. */
  void readSomethingUnreadable() {
    readUnreadable = true;
  }

  boolean hasReadSomethingUnreadable() {
    return readUnreadable;
  }

  /**
   * FoundationDB 7.4 has a bug here: a selector's offset counts a key that an own COMPARE_AND_CLEAR
   * emptied as if it existed. Nobody should rely on that.
   */
  boolean hasComparedAndCleared() {
    return writes.stream()
        .anyMatch(
            write ->
                write instanceof Write.Atomic atomic
                    && atomic.type() == MutationType.COMPARE_AND_CLEAR);
  }

  boolean mustLose(History history) {
    return !isReadOnly() && history.wroteAfter(readVersion, certainReads);
  }

  boolean mayLose(History history) {
    return !isReadOnly() && history.wroteAfter(readVersion, possibleReads);
  }

  View view(boolean snapshot) {
    boolean sees = readYourWrites && (!snapshot || snapshotReadYourWrites);
    if (!sees) {
      return new View(base, List.of());
    }
    NavigableMap<byte[], byte[]> rows = History.emptyState();
    rows.putAll(base);
    writes.forEach(write -> View.apply(rows, write, null));
    return new View(rows, unreadable());
  }

  private List<Span> unreadable() {
    List<Span> spans = new ArrayList<>();
    for (Span piece : pieces(new Span(View.FIRST, View.LAST))) {
      if (kind(piece.begin()) == Kind.UNREADABLE) {
        spans.add(piece);
      }
    }
    return spans;
  }

  private void addTo(List<Span> reads, Span span, boolean withUnreadable) {
    if (!readYourWrites) {
      reads.add(span);
      return;
    }
    for (Span piece : pieces(span)) {
      Kind kind = kind(piece.begin());
      if (kind == Kind.UNMODIFIED || kind == Kind.DEPENDENT) {
        reads.add(piece);
      } else if (kind == Kind.UNREADABLE && withUnreadable) {
        reads.add(piece);
      }
    }
  }

  /** Cuts a span wherever an own write begins or ends, so that each piece is of one kind. */
  private List<Span> pieces(Span span) {
    if (span.isEmpty()) {
      return List.of();
    }
    NavigableSet<byte[]> cuts = new TreeSet<>(Arrays::compareUnsigned);
    cuts.add(span.begin());
    cuts.add(span.end());
    for (Write write : writes) {
      Span reach = reach(write);
      if (span.contains(reach.begin())) {
        cuts.add(reach.begin());
      }
      if (span.contains(reach.end())) {
        cuts.add(reach.end());
      }
    }
    List<Span> pieces = new ArrayList<>();
    byte[] begin = null;
    for (byte[] cut : cuts) {
      if (begin != null) {
        pieces.add(new Span(begin, cut));
      }
      begin = cut;
    }
    return pieces;
  }

  private Kind kind(byte[] key) {
    Kind kind = Kind.UNMODIFIED;
    for (Write write : writes) {
      if (reach(write).contains(key)) {
        kind = after(kind, write);
      }
    }
    return kind;
  }

  private static Kind after(Kind kind, Write write) {
    if (write instanceof Write.Erase) {
      return Kind.OWN;
    }
    boolean stamped = write instanceof Write.StampedKey || write instanceof Write.StampedValue;
    if (kind == Kind.UNREADABLE || stamped) {
      return Kind.UNREADABLE;
    }
    boolean onUnknown = kind == Kind.UNMODIFIED || kind == Kind.DEPENDENT;
    return write instanceof Write.Atomic && onUnknown ? Kind.DEPENDENT : Kind.OWN;
  }

  /** Returns the keys that a write changes or hides. */
  private static Span reach(Write write) {
    if (write instanceof Write.Erase erase) {
      return erase.keys();
    } else if (write instanceof Write.Put put) {
      return Span.of(put.key());
    } else if (write instanceof Write.Atomic atomic) {
      return Span.of(atomic.key());
    } else if (write instanceof Write.StampedValue value) {
      return Span.of(value.key());
    }
    return ((Write.StampedKey) write).hides();
  }

  /** What one read sees: all visible rows of the key space, and which keys are unreadable. */
  static final class View {
    static final byte[] FIRST = {};
    static final byte[] LAST = {(byte) 0xff};

    private final NavigableMap<byte[], byte[]> rows;
    private final List<Span> unreadable;

    View(NavigableMap<byte[], byte[]> rows, List<Span> unreadable) {
      this.rows = rows;
      this.unreadable = unreadable;
    }

    /** The rows of a read. {@code rows} is null if it fails with accessed_unreadable. */
    record Rows(List<Map.Entry<byte[], byte[]>> rows, boolean stopped) {
      byte[] lastKey() {
        return rows.get(rows.size() - 1).getKey();
      }
    }

    /** Applies a write. Versionstamps keep their placeholders if {@code versionstamp} is null. */
    static void apply(NavigableMap<byte[], byte[]> rows, Write write, byte[] versionstamp) {
      if (write instanceof Write.Put put) {
        rows.put(put.key(), put.value());
      } else if (write instanceof Write.Erase erase) {
        rows.subMap(erase.keys().begin(), erase.keys().end()).clear();
      } else if (write instanceof Write.Atomic atomic) {
        byte[] old = rows.get(atomic.key());
        byte[] result = Atomics.apply(atomic.type(), old, atomic.operand());
        if (result == null) {
          rows.remove(atomic.key());
        } else {
          rows.put(atomic.key(), result);
        }
      } else if (write instanceof Write.StampedValue value && versionstamp != null) {
        rows.put(value.key(), stamped(value.template(), value.head(), versionstamp));
      } else if (write instanceof Write.StampedKey key && versionstamp != null) {
        rows.put(stamped(key.template(), key.head(), versionstamp), key.value());
      }
    }

    static byte[] stamped(byte[] template, int head, byte[] versionstamp) {
      byte[] bytes = template.clone();
      System.arraycopy(versionstamp, 0, bytes, head, versionstamp.length);
      return bytes;
    }

    boolean hasUnreadable() {
      return !unreadable.isEmpty();
    }

    boolean isUnreadable(byte[] key) {
      return unreadable.stream().anyMatch(span -> span.contains(key));
    }

    byte[] get(byte[] key) {
      return rows.get(key);
    }

    /** Applies the contract's formula, clamped to the ends of the key space. */
    byte[] resolve(byte[] base, int offset) {
      List<byte[]> keys = List.copyOf(rows.keySet());
      int first = (int) keys.stream().filter(k -> Arrays.compareUnsigned(k, base) < 0).count();
      int index = first + offset - 1;
      if (index < 0) {
        return FIRST;
      }
      return index < keys.size() ? keys.get(index) : LAST;
    }

    /** Returns whether resolving from {@code base} meets an unreadable key. */
    boolean resolvesUnreadable(byte[] base, int offset) {
      byte[] result = resolveReadable(base, offset);
      Span walked = offset > 0 ? new Span(base, result) : new Span(result, base);
      return unreadable.stream().anyMatch(walked::intersects);
    }

    /** Skips unreadable keys, which do not count as rows. */
    private byte[] resolveReadable(byte[] base, int offset) {
      NavigableMap<byte[], byte[]> readable = History.emptyState();
      rows.forEach(
          (key, value) -> {
            if (!isUnreadable(key)) {
              readable.put(key, value);
            }
          });
      return new View(readable, List.of()).resolve(base, offset);
    }

    /** Returns the rows of a range, or null if the scan reaches an unreadable key. */
    Rows range(Span span, int limit, boolean reverse) {
      if (span.isEmpty()) {
        return new Rows(List.of(), false);
      }
      List<Map.Entry<byte[], byte[]>> found = new ArrayList<>();
      rows.subMap(span.begin(), span.end())
          .forEach(
              (key, value) -> {
                if (!isUnreadable(key)) {
                  found.add(Map.entry(key, value));
                }
              });
      if (reverse) {
        Collections.reverse(found);
      }
      boolean stopped = limit > 0 && found.size() >= limit;
      Rows result = new Rows(stopped ? List.copyOf(found.subList(0, limit)) : found, stopped);
      Span scanned = stopped ? scanned(span, result.lastKey(), reverse) : span;
      return unreadable.stream().anyMatch(scanned::intersects) ? null : result;
    }

    /** Returns the part of a range scanned when the limit stopped at {@code last}. */
    static Span scanned(Span span, byte[] last, boolean reverse) {
      return reverse ? new Span(last, span.end()) : new Span(span.begin(), Span.after(last));
    }
  }

  /** A half-open range of keys. */
  record Span(byte[] begin, byte[] end) {

    static Span of(byte[] key) {
      return new Span(key, after(key));
    }

    /** Returns the first key after {@code key}. */
    static byte[] after(byte[] key) {
      return Arrays.copyOf(key, key.length + 1);
    }

    boolean isEmpty() {
      return Arrays.compareUnsigned(begin, end) >= 0;
    }

    boolean contains(byte[] key) {
      return Arrays.compareUnsigned(begin, key) <= 0 && Arrays.compareUnsigned(key, end) < 0;
    }

    boolean intersects(Span other) {
      return Arrays.compareUnsigned(begin, other.end) < 0
          && Arrays.compareUnsigned(other.begin, end) < 0;
    }

    static boolean intersect(Collection<Span> some, Collection<Span> others) {
      return some.stream().anyMatch(one -> others.stream().anyMatch(one::intersects));
    }
  }

  /** One write of a transaction, as it was called. */
  sealed interface Write {

    record Put(byte[] key, byte[] value) implements Write {}

    record Erase(Span keys) implements Write {}

    record Atomic(MutationType type, byte[] key, byte[] operand) implements Write {}

    /**
     * {@code head} is the number of bytes of {@code template} before the ten bytes of the
     * versionstamp.
     */
    record StampedValue(byte[] key, byte[] template, int head) implements Write {}

    /** {@code hides} is the span that cannot be read from here on. */
    record StampedKey(byte[] template, int head, byte[] value, Span hides) implements Write {}
  }
}
