package lectus.json;

import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;
import lectus.tuple.TupleWriter;

/**
 * A field in Mango's syntax: names separated by dots, a backslash before a dot or backslash that is
 * part of a name: {@code a.b\.c.d}. Names are not empty. A name of nothing but digits may be an
 * array position, too: {@code a.0} is the member "0" of an object as well as the first element of
 * an array.
 */
public record FieldPath(List<String> names) {
  /** Each doubles the number of ranges to read. */
  private static final int MOST_POSITIONS = 6;

  /** No array of a document has more elements than nine digits count. */
  private static final int MOST_DIGITS = 9;

  public FieldPath {
    names = List.copyOf(names);
  }

  /**
   * Parses a field.
   *
   * @throws LectusException 400 {@code invalid_field_name}
   */
  public static FieldPath parse(String field) {
    List<String> names = split(field);
    if (names.stream().skip(1).filter(FieldPath::isPosition).count() > MOST_POSITIONS) {
      throw invalid(field);
    }
    return new FieldPath(names);
  }

  /**
   * The names that a field consists of, however many of them may be positions.
   *
   * @throws LectusException 400 {@code invalid_field_name}
   */
  public static List<String> split(String field) {
    List<String> names = new ArrayList<>();
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < field.length(); i++) {
      char c = field.charAt(i);
      if (c == '.') {
        names.add(name.toString());
        name.setLength(0);
      } else if (c != '\\') {
        name.append(c);
      } else if (++i < field.length()) {
        name.append(field.charAt(i));
      } else {
        throw invalid(field);
      }
    }
    names.add(name.toString());
    if (Surrogates.firstUnpaired(field) >= 0 || names.contains("")) {
      throw invalid(field);
    }
    return names;
  }

  /** The longest beginning of the path that stands for a few ranges only. */
  public FieldPath bounded() {
    int positions = 0;
    for (int i = 1; i < names.size(); i++) {
      if (isPosition(names.get(i)) && ++positions > MOST_POSITIONS) {
        return new FieldPath(names.subList(0, i));
      }
    }
    return this;
  }

  /**
   * The paths in tuple encoding that the field may stand for. The field's leaves are those whose
   * path is one of them, or begins with one of them and goes on with any byte but 0xff: in the
   * store the range from {@code prefix} up to, not including, {@code prefix 0xff}.
   */
  public List<byte[]> prefixes() {
    List<byte[]> prefixes = List.of(new byte[0]);
    for (String name : names) {
      List<byte[]> longer = new ArrayList<>(2 * prefixes.size());
      byte[] position = position(name);
      for (byte[] prefix : prefixes) {
        longer.add(TupleWriter.startingWith(prefix).string(name).toBytes());
        if (prefix.length > 0 && position != null) {
          longer.add(TupleWriter.startingWith(prefix).raw(position).toBytes());
        }
      }
      prefixes = longer;
    }
    return prefixes;
  }

  /** The name of a member as an element of a path. */
  static byte[] member(String name) {
    return new TupleWriter(16).string(name).toBytes();
  }

  /** The name as an array position in a path; null if it is none. */
  static byte[] position(String name) {
    return isPosition(name) ? new TupleWriter(8).integer(Long.parseLong(name)).toBytes() : null;
  }

  private static boolean isPosition(String name) {
    return !name.isEmpty()
        && name.length() <= MOST_DIGITS
        && name.chars().allMatch(c -> c >= '0' && c <= '9')
        && (name.length() == 1 || name.charAt(0) != '0');
  }

  private static LectusException invalid(String field) {
    return LectusException.badRequest("invalid_field_name", "Invalid field name: " + field);
  }
}
