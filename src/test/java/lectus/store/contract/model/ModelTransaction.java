package lectus.store.contract.model;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  boolean readsItsWrites() {
    return readYourWrites;
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
}
