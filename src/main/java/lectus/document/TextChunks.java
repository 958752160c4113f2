package lectus.document;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.TransactionOptions;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.Leaf;
import lectus.json.MalformedTupleException;
import lectus.json.TupleWriter;

/**
 * A body's members as JSON text, in chunks below its first row. RFC 004 names this as the
 * alternative to its rows. Here it is the form of large bodies: their leaves as rows, or each with
 * its path, could take many times the size of the JSON.
 *
 * <pre>
 * key    first key ‖ 0x43 ‖ (number from 0)
 * value  a part of the text
 * </pre>
 */
final class TextChunks {
  /** Most bytes of a chunk; less than the store's limit on values. */
  static final int MAX_BYTES = 90_000;

  /** In the tuple layer's range for users; no path begins with it. */
  private static final int MARKER = 0x43;

  private TextChunks() {}

  static int count(int textBytes) {
    return (textBytes + MAX_BYTES - 1) / MAX_BYTES;
  }

  /** Returns the bytes of the keys and values, without the first key in each. */
  static long bytes(int textBytes) {
    long bytes = textBytes;
    for (int number = 0; number < count(textBytes); number++) {
      bytes += key(new TupleWriter(8), number).length();
    }
    return bytes;
  }

  /** Returns the prefix of the chunks' keys. */
  static byte[] prefix(byte[] firstKey) {
    return new TupleWriter(firstKey).octet(MARKER).toBytes();
  }

  /** Writes the chunks, without conflict ranges. */
  static void put(Transaction tx, TupleWriter firstKey, JsonBuffer text) {
    TransactionOptions options = tx.options();
    int keyBytes = firstKey.length();
    for (int number = 0; number < count(text.length()); number++) {
      int from = number * MAX_BYTES;
      byte[] chunk =
          Arrays.copyOfRange(text.array(), from, Math.min(text.length(), from + MAX_BYTES));
      options.setNextWriteNoWriteConflictRange();
      tx.set(key(firstKey.truncate(keyBytes), number).toBytes(), chunk);
    }
  }

  private static TupleWriter key(TupleWriter firstKey, int number) {
    return firstKey.octet(MARKER).integer(number);
  }

  /**
   * Returns some leaves of a body, in the order of their paths. Only they and one chunk are in
   * memory.
   *
   * @param rows the chunks
   * @throws MalformedTupleException if a chunk is missing, or the text is no JSON
   */
  static List<Leaf> leaves(
      int textBytes, Iterator<KeyValue> rows, int firstKeyBytes, JsonExploder.Choice choice) {
    Reading reading = new Reading(textBytes);
    Iterator<byte[]> parts =
        new Iterator<>() {
          private boolean isOpen;
          private boolean isClosed;

          @Override
          public boolean hasNext() {
            return !isClosed;
          }

          @Override
          public byte[] next() {
            if (!isOpen) {
              isOpen = true;
              return new byte[] {'{'};
            }
            if (!rows.hasNext()) {
              reading.finish();
              isClosed = true;
              return new byte[] {'}'};
            }
            KeyValue row = rows.next();
            reading.take(row.getKey(), firstKeyBytes, row.getValue());
            return row.getValue();
          }
        };
    return leaves(JsonInput.of(() -> parts.hasNext() ? parts.next() : new byte[0]), choice);
  }

  /** Returns some leaves of the object that a body is as JSON. */
  static List<Leaf> leaves(JsonBuffer object, JsonExploder.Choice choice) {
    return leaves(JsonInput.of(object.array(), 0, object.length()), choice);
  }

  private static List<Leaf> leaves(JsonInput object, JsonExploder.Choice choice) {
    try (JsonInput input = object) {
      return JsonExploder.chosen(input, choice);
    } catch (LectusException noJson) {
      throw new MalformedTupleException("A body in chunks is no JSON: " + noJson.error().reason());
    }
  }

  /** The chunks of one body while they are read. */
  static final class Reading {
    private final int textBytes;
    private int missing;
    private int next;

    Reading(int textBytes) {
      this.textBytes = textBytes;
      this.missing = textBytes;
    }

    /**
     * @param firstKeyBytes length of the body's first key
     * @throws MalformedTupleException if it is not the next chunk
     */
    void take(byte[] key, int firstKeyBytes, byte[] value) {
      byte[] number = key(new TupleWriter(8), next++).toBytes();
      boolean follows =
          Arrays.equals(key, firstKeyBytes, key.length, number, 0, number.length)
              && value.length > 0
              && value.length <= missing;
      if (!follows) {
        throw lacking();
      }
      missing -= value.length;
    }

    /**
     * @throws MalformedTupleException if a chunk is missing
     */
    void finish() {
      if (missing > 0) {
        throw lacking();
      }
    }

    private MalformedTupleException lacking() {
      return new MalformedTupleException(
          "A body in chunks lacks " + missing + " of its " + textBytes + " bytes");
    }
  }
}
