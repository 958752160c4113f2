package lectus.revision;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;

/**
 * The hashes of an edit branch's ancestors, newest first: the parent of the leaf, its grandparent,
 * and so on. Positions are not stored, since they count down from the leaf's position.
 *
 * <p>The list is not a tuple of byte strings, in which every NUL takes two bytes: it must fit in a
 * value of 100 kB whatever the hashes are.
 *
 * <pre>
 * nothing                      no ancestors
 * 00, 16 bytes each            all hashes have 16 bytes
 * 02, (length 0..ff, bytes)    some hash is odd ({@link RevisionHash})
 * </pre>
 */
public final class Ancestors {
  /** RFC 001: the number that fits in one value. */
  public static final int MAX_COUNT = 4000;

  /**
   * Room for {@link #MAX_COUNT} plain hashes even with a length each, and less than a value has
   * beside the other elements. Long odd hashes reach it earlier and are cut off there.
   */
  public static final int MAX_BYTES = 99_000;

  private static final int PLAIN_BYTES = RevisionHash.USUAL_BYTES;
  private static final int PLAIN = 0;
  private static final int WITH_LENGTHS = 2;

  public static final Ancestors NONE = new Ancestors(new byte[0], 0, 0, PLAIN);

  /** The hashes without the leading form byte; may be part of a value that was read. */
  private final byte[] data;

  private final int from;
  private final int to;
  private final int form;
  private final int count;

  private Ancestors(byte[] data, int from, int to, int form) {
    this.data = data;
    this.from = from;
    this.to = to;
    this.form = form;
    this.count = form == PLAIN ? (to - from) / PLAIN_BYTES : countOneByOne();
  }

  /** Returns at most {@code limit} of the hashes, and as many as fit. */
  public static Ancestors of(List<RevisionHash> newestFirst, int limit) {
    int count = Math.min(limit, newestFirst.size());
    boolean isPlain = newestFirst.subList(0, count).stream().noneMatch(RevisionHash::odd);
    TupleWriter packed = new TupleWriter(count * (PLAIN_BYTES + 1));
    for (int i = 0; i < count; i++) {
      RevisionHash hash = newestFirst.get(i);
      if (packed.length() + 1 + hash.bytes().length > MAX_BYTES) {
        break;
      }
      if (!isPlain) {
        packed.octet(hash.bytes().length);
      }
      packed.raw(hash.bytes());
    }
    byte[] data = packed.toBytes();
    int form = isPlain ? PLAIN : WITH_LENGTHS;
    return data.length == 0 ? NONE : new Ancestors(data, 0, data.length, form);
  }

  /** Returns the ancestors of a child of {@code parent}, whose own ancestors these are. */
  public Ancestors below(RevisionHash parent, int limit) {
    if (limit < 1) {
      return NONE;
    }
    if (form != PLAIN || parent.odd()) {
      List<RevisionHash> hashes = new ArrayList<>(count + 1);
      hashes.add(parent);
      addTo(hashes, 0);
      return of(hashes, limit);
    }
    int kept = Math.min(count, Math.min(limit, MAX_COUNT) - 1) * PLAIN_BYTES;
    byte[] grown = new byte[PLAIN_BYTES + kept];
    System.arraycopy(parent.bytes(), 0, grown, 0, PLAIN_BYTES);
    System.arraycopy(data, from, grown, PLAIN_BYTES, kept);
    return new Ancestors(grown, 0, grown.length, PLAIN);
  }

  /** Returns the number of hashes, 0 to {@link #MAX_COUNT}. */
  public int count() {
    return count;
  }

  /** Returns the size of the list in a value without its form byte, in bytes. */
  int sizeBytes() {
    return to - from;
  }

  /**
   * Whether {@code hash} is the one at {@code depth}; false if the list does not reach that far.
   */
  boolean holds(RevisionHash hash, long depth) {
    if (depth < 0 || depth >= count) {
      return false;
    }
    int at = offset((int) depth);
    byte[] wanted = hash.bytes();
    return Arrays.equals(data, hashStart(at), at + lengthAt(at), wanted, 0, wanted.length);
  }

  /** Adds the hashes, starting at {@code depth}, to {@code hashes}. */
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

  /** Writes the tail of the revisions value. */
  void writeTo(TupleWriter value) {
    if (to > from) {
      value.octet(form).raw(data, from, to - from);
    }
  }

  /** Reads the tail that begins at {@code offset}; keeps the value and does not copy it. */
  static Ancestors readFrom(byte[] value, int offset) {
    if (offset == value.length) {
      return NONE;
    }
    int form = value[offset];
    boolean whole = form != PLAIN || (value.length - offset - 1) % PLAIN_BYTES == 0;
    if ((form != PLAIN && form != WITH_LENGTHS) || !whole) {
      throw new MalformedTupleException("Not a list of ancestors");
    }
    return new Ancestors(value, offset + 1, value.length, form);
  }

  private int countOneByOne() {
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
    if (form == PLAIN) {
      return from + depth * PLAIN_BYTES;
    }
    int at = from;
    for (int i = 0; i < depth; i++) {
      at += lengthAt(at);
    }
    return at;
  }

  private int lengthAt(int at) {
    if (form == PLAIN) {
      return PLAIN_BYTES;
    }
    return 1 + (data[at] & 0xff);
  }

  private RevisionHash hashAt(int at) {
    return new RevisionHash(Arrays.copyOfRange(data, hashStart(at), at + lengthAt(at)));
  }

  private int hashStart(int at) {
    return form == PLAIN ? at : at + 1;
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
