package lectus.json;

import lectus.tuple.MalformedTupleException;
import lectus.tuple.TupleReader;
import lectus.tuple.TupleType;

/** Writes leaf values as JSON; the reverse of {@link LeafEncoder}. */
final class LeafText {
  private LeafText() {}

  /**
   * Writes one leaf's value.
   *
   * @throws MalformedTupleException if the bytes are not a leaf's value
   */
  static void append(byte[] value, JsonBuffer out) {
    if (value.length == 0) {
      throw new MalformedTupleException("A leaf without a value");
    }
    int end = 1;
    switch (value[0]) {
      case TupleType.STRING -> end = out.tupleString(value, 1, value.length);
      case TupleType.TRUE -> out.bool(true);
      case TupleType.FALSE -> out.bool(false);
      case TupleType.NIL -> out.nil();
      case LeafMarkers.EMPTY_ARRAY -> out.octet('[').octet(']');
      case LeafMarkers.EMPTY_OBJECT -> out.octet('{').octet('}');
      default -> end = number(value, out);
    }
    if (end != value.length) {
      throw new MalformedTupleException("A leaf's value ends at " + end + ", not at its last byte");
    }
  }

  private static int number(byte[] value, JsonBuffer out) {
    TupleReader reader = new TupleReader(value, 0);
    if (reader.isReal()) {
      out.number(reader.real());
    } else if (reader.isBigInteger()) {
      out.number(reader.bigInteger());
    } else {
      out.number(reader.integer());
    }
    return reader.position();
  }
}
