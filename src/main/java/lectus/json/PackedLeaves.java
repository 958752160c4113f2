package lectus.json;

/**
 * The leaves of a body one after the other, in the order in which they were sent, as they stand in
 * one value. Each has the bytes that its row would have:
 *
 * <pre>
 * (length of the path) path (length of the value) value
 * </pre>
 *
 * A length has seven bits in each byte, the lowest first; all bytes but the last have the high bit.
 * A reader of some members skips the others by their lengths.
 */
public final class PackedLeaves {
  private static final int BITS = 7;
  private static final int MORE = 1 << BITS;

  /** More bits belong to no length. */
  private static final int MAX_BITS = 28;

  private PackedLeaves() {}

  /** Receives leaves. The array is shared and must not be kept. */
  public interface Sink {
    /** A path and a value, as parts of the packed bytes. */
    void leaf(byte[] packed, int path, int pathEnd, int value, int valueEnd);
  }

  /** Returns the number of bytes of a leaf. */
  static long size(int pathBytes, int valueBytes) {
    return (long) lengthSize(pathBytes) + pathBytes + lengthSize(valueBytes) + valueBytes;
  }

  public static void write(ExplodedBody body, TupleWriter to) {
    body.forEachLeaf(
        ChosenPaths.ALL,
        (path, pathEnd, values, value, valueEnd) -> {
          length(pathEnd, to).raw(path, 0, pathEnd);
          length(valueEnd - value, to).raw(values, value, valueEnd - value);
        });
  }

  /**
   * Passes on the leaves that begin at an offset and go up to the end.
   *
   * @throws MalformedTupleException if the lengths do not fit
   */
  public static void read(byte[] packed, int from, Sink to) {
    int at = from;
    while (at < packed.length) {
      int path = behindLength(packed, at);
      int pathEnd = packed[at] >= 0 ? path + packed[at] : end(packed, at, path);
      if (pathEnd >= packed.length) {
        throw torn(at);
      }
      int value = behindLength(packed, pathEnd);
      int valueEnd = packed[pathEnd] >= 0 ? value + packed[pathEnd] : end(packed, pathEnd, value);
      if (valueEnd > packed.length) {
        throw torn(at);
      }
      to.leaf(packed, path, pathEnd, value, valueEnd);
      at = valueEnd;
    }
  }

  private static int behindLength(byte[] packed, int at) {
    if (packed[at] >= 0) {
      return at + 1;
    }
    int behind = at;
    while (behind < packed.length && packed[behind] < 0) {
      behind++;
    }
    return behind + 1;
  }

  private static int end(byte[] packed, int at, int behindLength) {
    long length = 0;
    int bits = 0;
    for (int i = at; i < behindLength; i++) {
      if (i >= packed.length || bits > MAX_BITS) {
        throw torn(at);
      }
      length |= (long) (packed[i] & (MORE - 1)) << bits;
      bits += BITS;
    }
    if (length > packed.length - behindLength) {
      throw torn(at);
    }
    return behindLength + (int) length;
  }

  private static MalformedTupleException torn(int at) {
    return new MalformedTupleException("Leaves in one value end within the one at " + at);
  }

  private static int lengthSize(int length) {
    int size = 1;
    for (int rest = length >>> BITS; rest > 0; rest >>>= BITS) {
      size++;
    }
    return size;
  }

  private static TupleWriter length(int length, TupleWriter to) {
    int rest = length;
    while (rest >= MORE) {
      to.octet((rest & (MORE - 1)) | MORE);
      rest >>>= BITS;
    }
    return to.octet(rest);
  }
}
