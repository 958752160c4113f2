package lectus.derived;

import com.ibm.icu.text.Collator;
import com.ibm.icu.text.RawCollationKey;
import com.ibm.icu.text.RuleBasedCollator;
import com.ibm.icu.util.ULocale;
import com.ibm.icu.util.VersionInfo;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lectus.json.JsonValue;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;
import lectus.json.TupleWriter;

/**
 * A value as bytes whose order is that of {@link Collation}: what an index sorts by. Equal values
 * have equal bytes. The bytes of one value are never the beginning of another's, so those of
 * several values can follow each other.
 *
 * <pre>
 * null, false, true    1, 2, 3
 * a number             4 ‖ the nearest double, 8 bytes ‖ the tuple of what is left of an integer
 * a string             5 ‖ ICU's sort key, which has no NUL ‖ 0
 * an array             6 ‖ its elements ‖ 0
 * an object            7 ‖ names, as strings, each before its value ‖ 0
 * </pre>
 *
 * A longer key is cut. Values that differ only beyond the cut have equal bytes; the order of all
 * others remains. ICU's sort keys depend on its version: another one needs another format of
 * whatever stores them.
 *
 * @param isCut whether other values may have the same bytes
 */
public record SortKey(byte[] bytes, boolean isCut) {
  private static final int END = 0;

  /** Ends each level of ICU's sort keys but the last. */
  private static final int LEVEL_END = 1;

  /** Bytes and characters near the end of a beginning that what follows may change. */
  private static final int MARGIN = 256;

  /** Of longer strings only so many characters count, whatever they are. */
  private static final int MAX_CHARACTERS = 1 << 16;

  /** Collators are not thread-safe, and a frozen one lets one thread in at a time. */
  private static final ThreadLocal<RuleBasedCollator> COLLATOR =
      ThreadLocal.withInitial(
          () -> (RuleBasedCollator) Collator.getInstance(ULocale.ROOT).cloneAsThawed());

  /** Returns the version of the order of strings, as CouchDB shows it. */
  public static String collatorVersion() {
    VersionInfo version = COLLATOR.get().getVersion();
    return version.getMajor() + "." + version.getMinor();
  }

  /**
   * @param value is not missing
   * @param mostBytes where it is cut, as part of a byte string in a tuple, where a zero byte takes
   *     two
   */
  public static SortKey of(LeafView value, int mostBytes) {
    TupleWriter out = new TupleWriter(32);
    boolean isAppended = append(value, mostBytes, out);
    int cut = fitting(out, mostBytes);
    boolean isWhole = isAppended && cut == out.length();
    return new SortKey(out.truncate(cut).toBytes(), !isWhole);
  }

  /** Where a key is cut depends only on what is before the cut, so the order remains. */
  private static int fitting(TupleWriter key, int mostBytes) {
    byte[] bytes = key.array();
    int taken = 0;
    for (int i = 0; i < key.length(); i++) {
      taken += bytes[i] == 0 ? 2 : 1;
      if (taken > mostBytes) {
        return i;
      }
    }
    return key.length();
  }

  /** As above, of an argument of a selector. */
  public static SortKey of(JsonValue argument, int mostBytes) {
    return of(Arguments.view(argument), mostBytes);
  }

  /** Stops where enough is written; returns whether it came to the end. */
  private static boolean append(LeafView value, int enough, TupleWriter out) {
    out.octet(value.type().ordinal());
    return switch (value.type()) {
      case NUMBER -> appendNumber(value, out);
      case STRING -> appendString(value.utf8(), enough, out);
      case ARRAY, OBJECT -> appendChildren(value, enough, out);
      default -> true;
    };
  }

  /** Rounding to a double keeps the order, and what it takes from an integer decides ties. */
  private static boolean appendNumber(LeafView number, TupleWriter out) {
    appendNumber(
        number.nearestDouble(),
        number.isInteger() ? Optional.of(number.integer()) : Optional.empty(),
        out);
    return true;
  }

  /**
   * Appends what follows the type of a number.
   *
   * @param integer its exact value, if it is one
   */
  public static void appendNumber(double value, Optional<BigInteger> integer, TupleWriter out) {
    double nearest = value + 0.0;
    long bits = Double.doubleToRawLongBits(nearest);
    long ordered = bits < 0 ? ~bits : bits ^ Long.MIN_VALUE;
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      out.octet((int) (ordered >>> shift));
    }
    if (integer.isEmpty()) {
      out.integer(0);
    } else if (Double.isInfinite(nearest)) {
      out.integer(integer.get());
    } else {
      out.integer(integer.get().subtract(new BigDecimal(nearest).toBigInteger()));
    }
  }

  /** Appends what follows the type of a string, with the NUL at its end, however long that is. */
  public static void appendString(String text, TupleWriter out) {
    boolean isWhole = text.length() <= MAX_CHARACTERS;
    RawCollationKey key = key(isWhole ? text : text.substring(0, MAX_CHARACTERS));
    out.raw(key.bytes, 0, key.size);
  }

  /**
   * A key begins with what tells letters apart, in their order. If the beginning of a long string
   * has enough of that, the rest of it is behind the cut.
   */
  private static boolean appendString(byte[] utf8, int enough, TupleWriter out) {
    String text = new String(utf8, StandardCharsets.UTF_8);
    long usual = enough + 2L * MARGIN;
    if (text.length() > usual) {
      RawCollationKey beginning = key(text.substring(0, (int) usual));
      if (firstLevel(beginning) > enough + MARGIN) {
        out.raw(beginning.bytes, 0, beginning.size);
        return false;
      }
    }
    // The last byte of ICU's key is the NUL that ends it.
    appendString(text, out);
    return text.length() <= MAX_CHARACTERS;
  }

  private static RawCollationKey key(String text) {
    return COLLATOR.get().getRawCollationKey(text, new RawCollationKey(2 * text.length() + 16));
  }

  /** Returns the length of what tells letters apart, without accents and case. */
  private static int firstLevel(RawCollationKey key) {
    int length = 0;
    while (length < key.size && (key.bytes[length] & 0xff) > LEVEL_END) {
      length++;
    }
    return length;
  }

  private static boolean appendChildren(LeafView container, int enough, TupleWriter out) {
    LeafView.Children children = container.children();
    boolean isNamed = container.type() == LeafType.OBJECT;
    for (LeafView child = children.next(); child != null; child = children.next()) {
      if (out.length() > enough) {
        return false;
      }
      if (isNamed) {
        out.octet(LeafType.STRING.ordinal());
        appendString(child.name().utf8(), enough, out);
      }
      if (!append(child, enough, out)) {
        return false;
      }
    }
    out.octet(END);
    return true;
  }
}
