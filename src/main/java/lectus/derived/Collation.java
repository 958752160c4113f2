package lectus.derived;

import com.ibm.icu.text.Collator;
import com.ibm.icu.util.ULocale;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;

/**
 * CouchDB's order of values: null, false, true, numbers, strings, arrays, objects. Numbers are
 * compared exactly. Strings are compared by the Unicode collation algorithm with ICU's root
 * collator (lower case before upper case, canonically equivalent strings are equal). Arrays are
 * compared element by element, objects member by member.
 *
 * <p>Ids of documents are compared by their bytes, as {@code _all_docs} orders them, and come after
 * all values that are no strings, as in CouchDB.
 */
final class Collation implements Comparator<LeafView> {
  static final Collation ORDER = new Collation(false);

  static final Collation OF_IDS = new Collation(true);

  private static final int BEHIND_ALL = LeafType.values().length;

  private final boolean ofIds;

  private Collation(boolean ofIds) {
    this.ofIds = ofIds;
  }

  /** Loaded when strings are first compared. */
  private static final class Root {
    private static final Collator COLLATOR = Collator.getInstance(ULocale.ROOT).freeze();
  }

  @Override
  public int compare(LeafView a, LeafView b) {
    LeafType type = a.type();
    int byType = Integer.compare(rank(type), rank(b.type()));
    if (byType != 0) {
      return byType;
    }
    return switch (type) {
      case NUMBER -> a.compareNumbers(b);
      case STRING -> compareStrings(a.utf8(), b.utf8());
      case ARRAY -> compareContainers(a, b, false);
      case OBJECT -> compareContainers(a, b, true);
      default -> 0;
    };
  }

  private int rank(LeafType type) {
    return ofIds && type == LeafType.STRING ? BEHIND_ALL : type.ordinal();
  }

  /** Like {@link #compare} returning 0, but faster for different strings. */
  boolean areEqual(LeafView a, LeafView b) {
    if (a.type() == LeafType.STRING && b.type() == LeafType.STRING) {
      byte[] left = a.utf8();
      byte[] right = b.utf8();
      return Arrays.equals(left, right)
          || (!(isPlain(left) && isPlain(right)) && compareStrings(left, right) == 0);
    }
    return compare(a, b) == 0;
  }

  /** Equal for scalars that {@linkplain #areEqual are equal}. */
  int hashOf(LeafView scalar) {
    return switch (scalar.type()) {
      // Zeros are equal, whatever their signs.
      case NUMBER -> Double.hashCode(scalar.nearestDouble() + 0.0);
      case STRING -> Root.COLLATOR.getCollationKey(text(scalar.utf8())).hashCode();
      default -> scalar.type().hashCode();
    };
  }

  private int compareStrings(byte[] a, byte[] b) {
    if (ofIds) {
      return Arrays.compareUnsigned(a, b);
    }
    return Arrays.equals(a, b) ? 0 : Root.COLLATOR.compare(text(a), text(b));
  }

  private int compareContainers(LeafView a, LeafView b, boolean named) {
    LeafView.Children left = a.children();
    LeafView.Children right = b.children();
    while (true) {
      LeafView x = left.next();
      LeafView y = right.next();
      if (x == null || y == null) {
        return x == y ? 0 : x == null ? -1 : 1;
      }
      int order = named ? compareStrings(x.name().utf8(), y.name().utf8()) : 0;
      order = order == 0 ? compare(x, y) : order;
      if (order != 0) {
        return order;
      }
    }
  }

  /**
   * Whether the string consists of printable ASCII: different such strings never collate as equal.
   */
  private static boolean isPlain(byte[] utf8) {
    for (byte b : utf8) {
      if (b < ' ' || b == 0x7f) {
        return false;
      }
    }
    return true;
  }

  private static String text(byte[] utf8) {
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
