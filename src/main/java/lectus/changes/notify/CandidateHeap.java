package lectus.changes.notify;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import lectus.changes.notify.CandidateQueue.Candidate;
import lectus.database.DatabaseName;
import lectus.store.Versionstamp;

/**
 * Candidates ordered by the point at which each may begin, the earliest first: a binary heap over
 * primitive columns, about sixty bytes per candidate. Candidates for changes can also be found by
 * name; each name has at most one. Not thread-safe.
 */
final class CandidateHeap {
  private static final int FIRST_CAPACITY = 16;

  /** Of one candidate, in all columns. */
  private static final int COLUMNS_BYTES = Long.BYTES + 4 * Integer.BYTES + Byte.BYTES;

  /** A place without a candidate. */
  private static final int NONE = -1;

  private static final Candidate.Kind[] KINDS = Candidate.Kind.values();

  /** Numbers of candidates, by their places in the heap. */
  private int[] heap = new int[FIRST_CAPACITY];

  /** By candidate number: the first 8 bytes of the point, its last 4, and so on. */
  private long[] high = new long[FIRST_CAPACITY];

  private int[] low = new int[FIRST_CAPACITY];
  private byte[] kinds = new byte[FIRST_CAPACITY];
  private int[] names = new int[FIRST_CAPACITY];
  private int[] places = new int[FIRST_CAPACITY];

  /** Numbers assigned so far. Released ones lie after the heap's end and are reused. */
  private int numbers;

  private int size;
  private NameArena arena = new NameArena();

  /** Numbers of the candidates for changes, by a hash of their names, with linear probing. */
  private int[] byName = emptyTable(2 * FIRST_CAPACITY);

  private int named;

  int size() {
    return size;
  }

  /** Returns the bytes held. */
  long bytes() {
    return (long) COLUMNS_BYTES * heap.length
        + (long) Integer.BYTES * byName.length
        + arena.capacity();
  }

  /** Whether it is worth moving the rest to another, smaller heap. */
  boolean isMostlyEmpty() {
    return numbers > 4 * FIRST_CAPACITY && size < numbers / 4;
  }

  /** A candidate for changes replaces the previous one of that name. */
  void add(Candidate candidate) {
    boolean isForChanges = candidate.kind() != Candidate.Kind.END;
    if (isForChanges) {
      remove(candidate.name());
    }
    if (arena.isMostlyGarbage()) {
      moveNames();
    }
    int number = newNumber();
    byte[] at = candidate.atLeast().bytes();
    high[number] = number(at, 0, Long.BYTES);
    low[number] = (int) number(at, Long.BYTES, Integer.BYTES);
    kinds[number] = (byte) candidate.kind().ordinal();
    names[number] = arena.add(candidate.name());
    if (isForChanges) {
      enter(number);
    }
    rise(size - 1);
  }

  /** Returns the first; null if there is none. */
  Candidate first() {
    return size == 0 ? null : candidate(heap[0]);
  }

  /** Removes and returns the first; null if there is none. */
  Candidate poll() {
    Candidate first = first();
    if (first != null) {
      removeAt(0);
    }
    return first;
  }

  /** Whether there is a candidate for changes of this name. */
  boolean hasChanges(DatabaseName name) {
    return byName[slot(name)] != NONE;
  }

  /** Removes the candidate for changes of this name, if there is one. */
  void remove(DatabaseName name) {
    int number = byName[slot(name)];
    if (number != NONE) {
      removeAt(places[number]);
    }
  }

  private void moveNames() {
    NameArena moved = new NameArena();
    for (int place = 0; place < size; place++) {
      int number = heap[place];
      names[number] = moved.copy(arena, names[number]);
    }
    arena = moved;
  }

  private Candidate candidate(int number) {
    byte[] at = new byte[Long.BYTES + Integer.BYTES];
    write(high[number], at, 0, Long.BYTES);
    write(low[number], at, Long.BYTES, Integer.BYTES);
    return new Candidate(arena.name(names[number]), KINDS[kinds[number]], new Versionstamp(at));
  }

  private static long number(byte[] bytes, int from, int count) {
    long number = 0;
    for (int i = from; i < from + count; i++) {
      number = number << Byte.SIZE | (bytes[i] & 0xff);
    }
    return number;
  }

  private static void write(long number, byte[] bytes, int from, int count) {
    long rest = number;
    for (int i = from + count - 1; i >= from; i--) {
      bytes[i] = (byte) rest;
      rest >>>= Byte.SIZE;
    }
  }

  private int newNumber() {
    if (size == numbers) {
      if (numbers == heap.length) {
        grow(2 * numbers);
      }
      heap[numbers] = numbers;
      numbers++;
    }
    int number = heap[size];
    places[number] = size;
    size++;
    return number;
  }

  private void grow(int capacity) {
    heap = Arrays.copyOf(heap, capacity);
    high = Arrays.copyOf(high, capacity);
    low = Arrays.copyOf(low, capacity);
    kinds = Arrays.copyOf(kinds, capacity);
    names = Arrays.copyOf(names, capacity);
    places = Arrays.copyOf(places, capacity);
  }

  private void removeAt(int place) {
    int number = heap[place];
    if (kinds[number] != Candidate.Kind.END.ordinal()) {
      leave(number);
    }
    arena.forget(names[number]);
    size--;
    put(heap[size], place);
    put(number, size);
    if (place < size) {
      rise(place);
      sink(place);
    }
  }

  private void rise(int from) {
    int place = from;
    while (place > 0 && isBefore(heap[place], heap[(place - 1) / 2])) {
      swap(place, (place - 1) / 2);
      place = (place - 1) / 2;
    }
  }

  private void sink(int from) {
    int place = from;
    while (2 * place + 1 < size) {
      int child = 2 * place + 1;
      if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
        child++;
      }
      if (!isBefore(heap[child], heap[place])) {
        return;
      }
      swap(place, child);
      place = child;
    }
  }

  private void swap(int one, int other) {
    int number = heap[one];
    put(heap[other], one);
    put(number, other);
  }

  private void put(int number, int place) {
    heap[place] = number;
    places[number] = place;
  }

  private boolean isBefore(int one, int other) {
    int order = Long.compareUnsigned(high[one], high[other]);
    return order != 0 ? order < 0 : Integer.compareUnsigned(low[one], low[other]) < 0;
  }

  private static int[] emptyTable(int length) {
    int[] table = new int[length];
    Arrays.fill(table, NONE);
    return table;
  }

  /** Returns the slot of a name, or the slot where it would be. */
  private int slot(DatabaseName name) {
    int slot = home(NameArena.hash(name));
    while (byName[slot] != NONE && !arena.is(names[byName[slot]], name)) {
      slot = next(slot);
    }
    return slot;
  }

  private int home(int hash) {
    return (hash ^ hash >>> 16) & byName.length - 1;
  }

  private int next(int slot) {
    return slot + 1 & byName.length - 1;
  }

  private void enter(int number) {
    if (4 * ++named > 3 * byName.length) {
      int[] before = byName;
      byName = emptyTable(2 * before.length);
      for (int known : before) {
        if (known != NONE) {
          place(known);
        }
      }
    }
    place(number);
  }

  private void place(int number) {
    int slot = home(arena.hash(names[number]));
    while (byName[slot] != NONE) {
      slot = next(slot);
    }
    byName[slot] = number;
  }

  /** Closes the gap with later candidates that are not in their home slots. */
  private void leave(int number) {
    int gap = home(arena.hash(names[number]));
    while (byName[gap] != number) {
      gap = next(gap);
    }
    named--;
    for (int slot = next(gap); byName[slot] != NONE; slot = next(slot)) {
      int home = home(arena.hash(names[byName[slot]]));
      boolean mayMove = gap <= slot ? home <= gap || home > slot : home <= gap && home > slot;
      if (mayMove) {
        byName[gap] = byName[slot];
        gap = slot;
      }
    }
    byName[gap] = NONE;
  }

  /** Database names back to back in one byte array: they are ASCII, at most 238 characters. */
  private static final class NameArena {
    private static final int FNV_PRIME = 0x01000193;

    /** Prevents clients from choosing names with equal hashes. */
    private static final int SEED = ThreadLocalRandom.current().nextInt();

    private static final int WORTH_MOVING = 1 << 16;

    private byte[] bytes = new byte[256];
    private int end;
    private int garbage;

    /** Returns the offset of the added name. */
    int add(DatabaseName name) {
      byte[] text = name.text().getBytes(StandardCharsets.US_ASCII);
      return add(text, 0, text.length);
    }

    /** Copies the name at an offset of another arena; returns its offset in this one. */
    int copy(NameArena other, int start) {
      return add(other.bytes, start + 1, other.length(start));
    }

    private int add(byte[] text, int from, int length) {
      if (end + 1 + length > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, end + 1 + length));
      }
      int start = end;
      bytes[end++] = (byte) length;
      System.arraycopy(text, from, bytes, end, length);
      end += length;
      return start;
    }

    /** Releases this name, which is never used again. */
    void forget(int start) {
      garbage += 1 + length(start);
    }

    boolean isMostlyGarbage() {
      return end > WORTH_MOVING && garbage > end / 2;
    }

    DatabaseName name(int start) {
      return new DatabaseName(
          new String(bytes, start + 1, length(start), StandardCharsets.US_ASCII));
    }

    boolean is(int start, DatabaseName name) {
      String text = name.text();
      if (length(start) != text.length()) {
        return false;
      }
      for (int i = 0; i < text.length(); i++) {
        if (bytes[start + 1 + i] != text.charAt(i)) {
          return false;
        }
      }
      return true;
    }

    /** Like {@link #hash(DatabaseName)}. */
    int hash(int start) {
      int hash = SEED;
      for (int i = start + 1; i <= start + length(start); i++) {
        hash = (hash ^ bytes[i]) * FNV_PRIME;
      }
      return hash;
    }

    static int hash(DatabaseName name) {
      String text = name.text();
      int hash = SEED;
      for (int i = 0; i < text.length(); i++) {
        hash = (hash ^ text.charAt(i)) * FNV_PRIME;
      }
      return hash;
    }

    private int length(int start) {
      return bytes[start] & 0xff;
    }

    int capacity() {
      return bytes.length;
    }
  }
}
