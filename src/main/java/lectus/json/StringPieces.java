package lectus.json;

import java.util.Arrays;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleType;
import lectus.tuple.TupleWriter;

/**
 * Strings that do not fit into one value of the store lie in several key-values (RFC 004, "Data
 * Model", names this as the way around its limit of 100 kB):
 *
 * <pre>
 * key    path…                     value  0x42 ‖ (bytes of the text) ‖ the text's first piece
 * key    path… ‖ 0x42 ‖ (number)     value  a further piece, numbered from 1
 * </pre>
 *
 * The text is the string in tuple encoding without its type code and terminator: UTF-8, each NUL
 * twice. It is cut between characters. The pieces lie at and behind the path and before every other
 * path, so that the range of a leaf, of a field or of a document brings them in their order. The
 * length shows when a string lacks a piece.
 *
 * <p>A {@link Leaf} has the whole string. Whoever reads single leaves has to read the rows behind
 * the first one, too; a {@link LeafList} and a {@link JsonAssembler} put the rows together.
 */
public final class StringPieces {
  /** What a piece's number and its marker add to the key of the first row, bytes at most. */
  static final int MOST_KEY_BYTES = 4;

  private static final int MOST_VALUE_BYTES = JsonLimits.STORE_VALUE_BYTES;

  /** The second half of a NUL in tuple encoding. */
  private static final byte ESCAPED_NUL = (byte) 0xff;

  /** Before and behind a string's text in tuple encoding. */
  private static final int FRAME_BYTES = 1;

  private StringPieces() {}

  /** Whether a leaf's value of so many bytes needs more than one row. */
  static boolean areNeeded(int valueBytes) {
    return valueBytes > MOST_VALUE_BYTES;
  }

  /** Whether a row's value is the first of several. */
  public static boolean areBegunBy(byte[] value) {
    return value.length > 0 && value[0] == LeafMarkers.PIECES;
  }

  /** Where the rows behind the first one begin. */
  public static byte[] begin(byte[] firstKey) {
    return TupleWriter.startingWith(firstKey).octet(LeafMarkers.PIECES).toBytes();
  }

  /** Where they end. */
  public static byte[] end(byte[] firstKey) {
    return TupleWriter.startingWith(firstKey).octet(LeafMarkers.PIECES + 1).toBytes();
  }

  /**
   * What a string takes in the store.
   *
   * @param rows how many key-values
   * @param bytes of all their paths and values
   */
  record Size(int rows, long bytes) {}

  /** What the string in the first {@code length} bytes takes under a path of so many bytes. */
  static Size size(int pathBytes, byte[] string, int length) {
    int end = length - FRAME_BYTES;
    byte[] head = head(length);
    int at = cut(string, FRAME_BYTES, end, MOST_VALUE_BYTES - head.length);
    int rows = 1;
    long bytes = pathBytes + head.length + (length - 2L * FRAME_BYTES);
    while (at < end) {
      bytes += pathBytes + number(rows++).length;
      at = cut(string, at, end, MOST_VALUE_BYTES);
    }
    return new Size(rows, bytes);
  }

  /** Hands over the rows of a leaf that needs several, in their order. */
  static void write(Leaf leaf, LeafRows rows) {
    byte[] string = leaf.value();
    int end = string.length - FRAME_BYTES;
    TupleWriter value = TupleWriter.startingWith(head(string.length));
    int from = FRAME_BYTES;
    int to = cut(string, from, end, MOST_VALUE_BYTES - value.length());
    rows.row(leaf.path(), value.raw(string, from, to - from).toBytes());
    TupleWriter path = TupleWriter.startingWith(leaf.path());
    for (int number = 1; to < end; number++) {
      from = to;
      to = cut(string, from, end, MOST_VALUE_BYTES);
      path.truncate(leaf.path().length).raw(number(number));
      rows.row(path.toBytes(), Arrays.copyOfRange(string, from, to));
    }
  }

  /** The pieces of one string as they are read, each checked to be the one that follows. */
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

    /** Where in the first row's value its piece begins. */
    int textFrom() {
      return textFrom;
    }

    /** Whether all of the string has been read. */
    boolean isComplete() {
      return missing == 0;
    }

    /** Takes the next row, all of whose value is a piece. */
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

    /** Says what an incomplete string lacks. */
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

  /** A string put together from its rows. */
  static final class Joining {
    private final Reading reading;
    private final TupleWriter string;

    /** Begins with the first row. */
    Joining(byte[] key, byte[] value) {
      reading = new Reading(key, value);
      int from = reading.textFrom();
      string = new TupleWriter(reading.textBytes + 2 * FRAME_BYTES).octet(TupleType.STRING);
      string.raw(value, from, value.length - from);
    }

    boolean isComplete() {
      return reading.isComplete();
    }

    void take(byte[] key, byte[] value) {
      reading.take(key, value);
      string.raw(value);
    }

    /** One value in tuple encoding. */
    byte[] string() {
      if (!isComplete()) {
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

  /** What follows the path in the key of a further piece. */
  private static byte[] number(int number) {
    return new TupleWriter(16).octet(LeafMarkers.PIECES).integer(number).toBytes();
  }

  /** Where a piece ends that begins at {@code from} and has so many bytes at most. */
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
}
