package lectus.json;

/** The type codes of FoundationDB's tuple encoding ({@code design/tuple.md}) that Lectus uses. */
public final class TupleType {
  public static final int NIL = 0x00;
  public static final int BYTES = 0x01;
  public static final int STRING = 0x02;
  public static final int NEGATIVE_BIG_INTEGER = 0x0b;

  /** Integers of up to eight bytes have this code plus or minus their length. */
  public static final int INTEGER_ZERO = 0x14;

  public static final int POSITIVE_BIG_INTEGER = 0x1d;
  public static final int DOUBLE = 0x21;
  public static final int FALSE = 0x26;
  public static final int TRUE = 0x27;
  public static final int VERSIONSTAMP = 0x33;

  /** Of a complete versionstamp, its user version included. */
  public static final int VERSIONSTAMP_BYTES = 12;

  private TupleType() {}
}
