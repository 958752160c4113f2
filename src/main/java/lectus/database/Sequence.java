package lectus.database;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.store.Versionstamp;

/**
 * A point in a database's total order of changes (RFC 003): the database's Incarnation and a
 * versionstamp of 12 bytes, the last two of which number the documents of one transaction.
 *
 * <p>Printed as the lower-case hex of the tuple-encoded Incarnation followed by the versionstamp's
 * bytes, so that printed sequences sort like sequences.
 */
public record Sequence(int incarnation, byte[] versionstamp) implements Comparable<Sequence> {
  /** Before every change. */
  public static final Sequence ZERO = new Sequence(0, new byte[Versionstamp.LENGTH]);

  public Sequence {
    if (incarnation < 0 || versionstamp.length != Versionstamp.LENGTH) {
      throw new IllegalArgumentException("Not a sequence");
    }
  }

  /**
   * @param commit the 10 bytes that FoundationDB assigned to the transaction
   * @param number 0 to 65 535, the document's number in its transaction
   */
  public static Sequence of(int incarnation, byte[] commit, int number) {
    return new Sequence(incarnation, Versionstamp.complete(commit, number));
  }

  /** Returns empty for anything that {@link #toString} did not print. */
  public static Optional<Sequence> parse(String printed) {
    try {
      byte[] bytes = HexFormat.of().parseHex(printed);
      int split = bytes.length - Versionstamp.LENGTH;
      if (split < 1 || !printed.equals(HexFormat.of().formatHex(bytes))) {
        return Optional.empty();
      }
      TupleReader reader = new TupleReader(bytes, 0, split);
      if (!reader.isInteger() || reader.isBigInteger()) {
        return Optional.empty();
      }
      Sequence sequence =
          new Sequence(reader.smallInteger(), Arrays.copyOfRange(bytes, split, bytes.length));
      return sequence.toString().equals(printed) ? Optional.of(sequence) : Optional.empty();
    } catch (RuntimeException notASequence) {
      return Optional.empty();
    }
  }

  /** Returns the sequence right after this one; after the highest possible one, that one itself. */
  public Sequence next() {
    Versionstamp at = new Versionstamp(versionstamp);
    if (at.compareTo(Versionstamp.END) < 0) {
      return new Sequence(incarnation, at.successor().bytes());
    }
    return incarnation < Integer.MAX_VALUE
        ? new Sequence(incarnation + 1, Versionstamp.ZERO.bytes())
        : this;
  }

  /** Returns the sequence right before this one in the same incarnation. */
  public Sequence predecessor() {
    return new Sequence(incarnation, new Versionstamp(versionstamp).predecessor().bytes());
  }

  /** Writes the form used in keys and values: (…, Incarnation, Versionstamp, …). */
  public void writeTo(TupleWriter tuple) {
    tuple.integer(incarnation).versionstamp(versionstamp);
  }

  public static Sequence readFrom(TupleReader tuple) {
    return new Sequence(tuple.smallInteger(), tuple.versionstamp());
  }

  @Override
  public int compareTo(Sequence other) {
    int byIncarnation = Integer.compare(incarnation, other.incarnation);
    return byIncarnation != 0
        ? byIncarnation
        : Arrays.compareUnsigned(versionstamp, other.versionstamp);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Sequence that && compareTo(that) == 0;
  }

  @Override
  public int hashCode() {
    return 31 * incarnation + Arrays.hashCode(versionstamp);
  }

  @Override
  public String toString() {
    byte[] head = new TupleWriter(16).integer(incarnation).toBytes();
    return HexFormat.of().formatHex(head) + HexFormat.of().formatHex(versionstamp);
  }
}
