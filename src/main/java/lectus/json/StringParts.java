package lectus.json;

import java.util.Arrays;
import lectus.json.Leaf.LeafMarkers;

/**
 * Stores strings that exceed the limit on values in several key-values (RFC 004, "Data Model",
 * names this as the way around its limit of 100 kB):
 *
 * <pre>
 * key    path…                     value  0x42 ‖ (bytes of the text) ‖ the text's first piece
 * key    path… ‖ 0x42 ‖ (number)     value  a further piece, numbered from 1
 * </pre>
 *
 * The text is the tuple-encoded string without its type code and terminator: UTF-8, each NUL twice.
 * It is cut between characters. The pieces lie at and after the path and before every other path,
 * so the range of a leaf, a field or a document returns them in order. The length reveals a missing
 * piece.
 *
 * <p>A {@link Leaf} has the whole string. Code that reads single leaves also has to read the rows
 * after the first one; a {@link LeafList} and a {@link JsonAssembler} join the rows.
 */
public final class StringParts {
  /** Maximum number of bytes that a piece's marker and number add to the key of the first row. */
  static final int MAX_KEY_BYTES = 4;

  private static final int MAX_VALUE_BYTES = JsonLimits.STORE_VALUE_BYTES;

  /** The second half of a tuple-encoded NUL. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  /** Bytes before a tuple-encoded string's text, and bytes after it. */
  private static final int FRAME_BYTES = 1;

  private StringParts() {}

  /** Whether a leaf's value of this size needs more than one row. */
  static boolean areNeeded(int valueBytes) {
    return valueBytes > MAX_VALUE_BYTES;
  }

  /** Whether a row's value is the first of several. */
  public static boolean areBegunBy(byte[] value) {
    return value.length > 0 && value[0] == LeafMarkers.PIECES;
  }

  /** Whether a key is that of a further row of the string whose first row has this key. */
  public static boolean isPiece(byte[] firstKey, byte[] key) {
    return key.length > firstKey.length
        && key[firstKey.length] == LeafMarkers.PIECES
        && Arrays.equals(firstKey, 0, firstKey.length, key, 0, firstKey.length);
  }

  /** Returns where the rows after the first one begin. */
  public static byte[] begin(byte[] firstKey) {
    return new TupleWriter(firstKey).octet(LeafMarkers.PIECES).toBytes();
  }

  /** Returns where the rows after the first one end. */
  public static byte[] end(byte[] firstKey) {
    return new TupleWriter(firstKey).octet(LeafMarkers.PIECES + 1).toBytes();
  }

  /**
   * The size of a string in the store.
   *
   * @param rows number of key-values
   * @param bytes size of all their paths and values
   */
  record Size(int rows, long bytes) {}

  /** Returns the size of the string between two offsets, under a path of the given length. */
  static Size size(int pathBytes, byte[] string, int from, int to) {
    int end = to - FRAME_BYTES;
    byte[] head = head(to - from);
    int at = cut(string, from + FRAME_BYTES, end, MAX_VALUE_BYTES - head.length);
    int rows = 1;
    long bytes = pathBytes + head.length + (to - from - 2L * FRAME_BYTES);
    while (at < end) {
      bytes += pathBytes + number(rows++).length;
      at = cut(string, at, end, MAX_VALUE_BYTES);
    }
    return new Size(rows, bytes);
  }

  /** Passes on the rows of a leaf that needs several, in order. */
  static void write(Leaf leaf, LeafRows rows) {
    byte[] string = leaf.value();
    int end = string.length - FRAME_BYTES;
    TupleWriter value = new TupleWriter(head(string.length));
    int from = FRAME_BYTES;
    int to = cut(string, from, end, MAX_VALUE_BYTES - value.length());
    rows.row(leaf.path(), value.raw(string, from, to - from).toBytes());
    TupleWriter path = new TupleWriter(leaf.path());
    for (int number = 1; to < end; number++) {
      from = to;
      to = cut(string, from, end, MAX_VALUE_BYTES);
      path.truncate(leaf.path().length).raw(number(number));
      rows.row(path.toBytes(), Arrays.copyOfRange(string, from, to));
    }
  }

  /** The pieces of one string while they are read; each is checked to be the next one. */
  static final class Reading {
    private final byte[] key;
    private final int textFrom;
    private final int textBytes;
    private int missing;
    private int next = 1;

    /** Begins with the first row. */
    Reading(byte[] key, byte[] value) {
      this.key = key;
      TupleReader head = new TupleReader(value, 1);
      this.textBytes = head.smallInteger();
      this.textFrom = head.position();
      if (textBytes > JsonLimits.TRANSACTION_BYTES) {
        throw new MalformedTupleException("A string in pieces of " + textBytes + " bytes");
      }
      this.missing = textBytes;
      take(value.length - textFrom);
    }

    /** Returns the offset of the piece in the first row's value. */
    int textFrom() {
      return textFrom;
    }

    /** Whether the whole string has been read. */
    boolean isComplete() {
      return missing == 0;
    }

    /** Takes the next row, whose value is one piece. */
    void take(byte[] itsKey, byte[] value) {
      byte[] number = number(next++);
      boolean follows =
          itsKey.length == key.length + number.length
              && Arrays.equals(itsKey, 0, key.length, key, 0, key.length)
              && Arrays.equals(itsKey, key.length, itsKey.length, number, 0, number.length);
      if (!follows) {
        throw lacking();
      }
      take(value.length);
    }

    /** Returns an error that says what an incomplete string lacks. */
    MalformedTupleException lacking() {
      return new MalformedTupleException(
          "A string in pieces lacks " + missing + " of its " + textBytes + " bytes");
    }

    private void take(int bytes) {
      if (bytes == 0 || bytes > missing) {
        throw new MalformedTupleException(
            "A piece has " + bytes + " bytes where " + missing + " are missing");
      }
      missing -= bytes;
    }
  }

  /** Joins a string from its rows. */
  static final class Joining {
    final Reading reading;
    private final TupleWriter string;

    /** Begins with the first row. */
    Joining(byte[] key, byte[] value) {
      reading = new Reading(key, value);
      int from = reading.textFrom();
      string = new TupleWriter(reading.textBytes + 2 * FRAME_BYTES).octet(TupleType.STRING);
      string.raw(value, from, value.length - from);
    }

    void take(byte[] key, byte[] value) {
      reading.take(key, value);
      string.raw(value);
    }

    /** Returns the string in tuple encoding. */
    byte[] string() {
      if (!reading.isComplete()) {
        throw reading.lacking();
      }
      return string.octet(0).toBytes();
    }
  }

  private static byte[] head(int stringBytes) {
    return new TupleWriter(16)
        .octet(LeafMarkers.PIECES)
        .integer(stringBytes - 2L * FRAME_BYTES)
        .toBytes();
  }

  /** Returns what follows the path in the key of a further piece. */
  private static byte[] number(int number) {
    return new TupleWriter(16).octet(LeafMarkers.PIECES).integer(number).toBytes();
  }

  /**
   * Returns the end of the piece that begins at {@code from} and has at most {@code most} bytes.
   */
  private static int cut(byte[] string, int from, int end, int most) {
    if (end - from <= most) {
      return end;
    }
    int to = from + most;
    while (!beginsCharacter(string[to])) {
      to--;
    }
    return to;
  }

  private static boolean beginsCharacter(byte b) {
    return (b & 0xc0) != 0x80 && b != ESCAPED_NUL;
  }

  /** Receives a body as the key-values to store, in ascending order of their paths. */
  public interface LeafRows {
    /**
     * @param path follows the revision's key
     * @param value within the store's limit on values
     */
    void row(byte[] path, byte[] value);
  }
}
