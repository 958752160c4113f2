package lectus.store.contract.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;

/** What one read sees: all visible rows of the key space, and which keys are unreadable. */
final class View {
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
