package lectus.revision;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleWriter;

/**
 * The hashes of an edit branch's ancestors, newest first: the parent of the leaf, its grandparent,
 * and so on. Positions are not kept, since they count down from the leaf's.
 *
 * <p>The list is no tuple of byte strings, where every NUL takes two bytes: it must fit in a value
 * of 100 kB whatever the hashes are.
 *
 * <pre>
 * nothing                      no ancestors
 * 00, 16 bytes each            all hashes are plain
 * 01, (00, 16 bytes) or        some hash is odd ({@link RevisionHash}):
 *     (length 1..ff, bytes)    each with its length, 00 for a plain one
 * </pre>
 */
public final class Ancestors {
  /** RFC 001: what fits in one value. */
  public static final int MAX_COUNT = 4000;

  /**
   * Room for {@link #MAX_COUNT} plain hashes even in the second form, and less than what a value
   * takes beside the other elements; long odd hashes reach it earlier and are cut off there.
   */
  public static final int MAX_BYTES = 99_000;

  public static final Ancestors NONE = new Ancestors(new byte[0], 0, 0, false);

  private static final int PLAIN_BYTES = 16;
  private static final int ALL_PLAIN = 0;
  private static final int MIXED = 1;

  /** The hashes without the leading form byte; may lie inside a value that was read. */
  private final byte[] data;

  private final int from;
  private final int to;
  private final boolean mixed;
  private final int count;

  private Ancestors(byte[] data, int from, int to, boolean mixed) {
    this.data = data;
    this.from = from;
    this.to = to;
    this.mixed = mixed;
    this.count = mixed ? countMixed() : (to - from) / PLAIN_BYTES;
  }

  /** At most {@code limit} of the hashes, and as many as fit. */
  public static Ancestors of(List<RevisionHash> newestFirst, int limit) {
    boolean mixed = false;
    int count = Math.min(limit, newestFirst.size());
    for (int i = 0; i < count && !mixed; i++) {
      mixed = newestFirst.get(i).odd();
    }
    TupleWriter packed = new TupleWriter(count * (PLAIN_BYTES + 1));
    for (int i = 0; i < count; i++) {
      RevisionHash hash = newestFirst.get(i);
      if (packed.length() + 1 + hash.bytes().length > MAX_BYTES) {
        break;
      }
      append(packed, hash, mixed);
    }
    byte[] data = packed.toBytes();
    return data.length == 0 ? NONE : new Ancestors(data, 0, data.length, mixed);
  }

  /** The ancestors of a child of {@code parent}, whose own ancestors these are. */
  public Ancestors below(RevisionHash parent, int limit) {
    if (limit < 1) {
      return NONE;
    }
    if (mixed || parent.odd()) {
      List<RevisionHash> hashes = new ArrayList<>(count + 1);
      hashes.add(parent);
      addTo(hashes, 0);
      return of(hashes, limit);
    }
    int kept = Math.min(count, Math.min(limit, MAX_COUNT) - 1) * PLAIN_BYTES;
    byte[] grown = new byte[PLAIN_BYTES + kept];
    System.arraycopy(parent.bytes(), 0, grown, 0, PLAIN_BYTES);
    System.arraycopy(data, from, grown, PLAIN_BYTES, kept);
    return new Ancestors(grown, 0, grown.length, false);
  }

  /** Hashes in the list, 0 to {@link #MAX_COUNT}. */
  public int count() {
    return count;
  }

  /** Bytes that the list takes in a value, without its form. */
  int sizeBytes() {
    return to - from;
  }

  /**
   * @param depth 0 for the parent of the leaf
   */
  public RevisionHash hash(int depth) {
    if (depth < 0 || depth >= count) {
      throw new IndexOutOfBoundsException(depth);
    }
    return hashAt(offset(depth));
  }

  /** Whether {@code hash} is the one at {@code depth}; false where the list does not reach. */
  boolean holds(RevisionHash hash, long depth) {
    if (depth < 0 || depth >= count || (hash.odd() && !mixed)) {
      return false;
    }
    if (mixed) {
      return hash((int) depth).equals(hash);
    }
    int at = offset((int) depth);
    return Arrays.equals(data, at, at + PLAIN_BYTES, hash.bytes(), 0, PLAIN_BYTES);
  }

  /** Adds the hashes from {@code depth} on to {@code hashes}. */
  void addTo(List<RevisionHash> hashes, int depth) {
    int at = depth < count ? offset(depth) : to;
    while (at < to) {
      hashes.add(hashAt(at));
      at += lengthAt(at);
    }
  }

  public List<RevisionHash> toList() {
    List<RevisionHash> hashes = new ArrayList<>(count);
    addTo(hashes, 0);
    return hashes;
  }

  /** The tail of the revisions value. */
  void writeTo(TupleWriter value) {
    if (to > from) {
      value.octet(mixed ? MIXED : ALL_PLAIN).raw(data, from, to - from);
    }
  }

  /** The tail that begins at {@code offset}; the value is kept, not copied. */
  static Ancestors readFrom(byte[] value, int offset) {
    if (offset == value.length) {
      return NONE;
    }
    int form = value[offset];
    boolean whole = form == MIXED || (value.length - offset - 1) % PLAIN_BYTES == 0;
    if (form < ALL_PLAIN || form > MIXED || !whole) {
      throw new MalformedTupleException("Not a list of ancestors");
    }
    return new Ancestors(value, offset + 1, value.length, form == MIXED);
  }

  private static void append(TupleWriter packed, RevisionHash hash, boolean mixed) {
    if (mixed) {
      packed.octet(hash.odd() ? hash.bytes().length : 0);
    }
    packed.raw(hash.bytes());
  }

  private int countMixed() {
    int hashes = 0;
    int at = from;
    while (at < to) {
      at += lengthAt(at);
      hashes++;
    }
    if (at != to) {
      throw new MalformedTupleException("A list of ancestors ends within a hash");
    }
    return hashes;
  }

  private int offset(int depth) {
    if (!mixed) {
      return from + depth * PLAIN_BYTES;
    }
    int at = from;
    for (int i = 0; i < depth; i++) {
      at += lengthAt(at);
    }
    return at;
  }

  private int lengthAt(int at) {
    if (!mixed) {
      return PLAIN_BYTES;
    }
    int length = data[at] & 0xff;
    return 1 + (length == 0 ? PLAIN_BYTES : length);
  }

  private RevisionHash hashAt(int at) {
    int start = mixed ? at + 1 : at;
    boolean odd = mixed && data[at] != 0;
    return new RevisionHash(Arrays.copyOfRange(data, start, at + lengthAt(at)), odd);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Ancestors that && toList().equals(that.toList());
  }

  @Override
  public int hashCode() {
    return toList().hashCode();
  }

  @Override
  public String toString() {
    return toList().toString();
  }
}
