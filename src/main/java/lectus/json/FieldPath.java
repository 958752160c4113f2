package lectus.json;

import java.util.ArrayList;
import java.util.List;
import lectus.error.LectusException;

/**
 * A field in Mango's syntax: names separated by dots. A dot or backslash within a name is preceded
 * by a backslash: {@code a.b\.c.d}. Names are not empty. A name that consists of digits may also be
 * an array position: {@code a.0} is the member "0" of an object and the first element of an array.
 */
public record FieldPath(List<String> names) {
  /** Maximum number of names in a path: no document is nested deeper. */
  public static final int MAX_NAMES = 500;

  /** Maximum number of fields in one request. */
  public static final int MAX_FIELDS = 1_000;

  /** Maximum size of the prefixes of one request's fields, in bytes. */
  private static final int MAX_PREFIX_BYTES = 1_000_000;

  /** Maximum number of characters of a name that a reason repeats. */
  private static final int LONGEST_NAME_SHOWN = 200;

  /** Each possible position doubles the number of ranges to read. */
  private static final int MAX_POSITIONS = 6;

  /** No array of a document has more elements than nine digits can count. */
  private static final int MAX_DIGITS = 9;

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
    if (names.stream().skip(1).filter(FieldPath::isPosition).count() > MAX_POSITIONS) {
      throw invalid(field);
    }
    return new FieldPath(names);
  }

  /**
   * Parses a request's fields.
   *
   * @throws LectusException 400 {@code invalid_field_name}; {@code bad_request} if they are too
   *     many, or too long together
   */
  public static List<FieldPath> parseAll(List<String> fields) {
    if (fields.size() > MAX_FIELDS) {
      throw LectusException.badRequest("There are more than " + MAX_FIELDS + " fields.");
    }
    List<FieldPath> paths = new ArrayList<>(fields.size());
    long bytes = 0;
    for (String field : fields) {
      FieldPath path = parse(field);
      bytes += path.prefixBytes();
      if (bytes > MAX_PREFIX_BYTES) {
        throw LectusException.badRequest("The fields are too long together.");
      }
      paths.add(path);
    }
    return paths;
  }

  /**
   * Returns the names in a field, however many of them may be positions.
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
        if (names.size() == MAX_NAMES) {
          throw LectusException.badRequest(
              "invalid_field_name", "A field name has more than " + MAX_NAMES + " parts.");
        }
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

  /** Returns an upper bound of the memory of {@link #prefixes}, in bytes. */
  public long prefixBytes() {
    long bytes = 0;
    int positions = 0;
    for (String name : names) {
      bytes += 3L * name.length() + 2;
      positions += isPosition(name) ? 1 : 0;
    }
    return bytes << Math.min(positions, MAX_POSITIONS + 1);
  }

  /** Returns the longest beginning of the path that stands for only a few ranges. */
  public FieldPath bounded() {
    int positions = 0;
    for (int i = 1; i < names.size(); i++) {
      if (isPosition(names.get(i)) && ++positions > MAX_POSITIONS) {
        return new FieldPath(names.subList(0, i));
      }
    }
    return this;
  }

  /**
   * Returns the tuple-encoded paths that the field may stand for. A leaf belongs to the field if
   * its path equals one of them, or begins with one of them followed by any byte but 0xff: in the
   * store, the range from {@code prefix} (inclusive) to {@code prefix 0xff} (exclusive).
   */
  public List<byte[]> prefixes() {
    List<byte[]> prefixes = List.of(new byte[0]);
    for (String name : names) {
      List<byte[]> longer = new ArrayList<>(2 * prefixes.size());
      byte[] position = position(name);
      for (byte[] prefix : prefixes) {
        longer.add(new TupleWriter(prefix).string(name).toBytes());
        if (prefix.length > 0 && position != null) {
          longer.add(new TupleWriter(prefix).raw(position).toBytes());
        }
      }
      prefixes = longer;
    }
    return prefixes;
  }

  /** Returns a member's name as an element of a path. */
  static byte[] member(String name) {
    return new TupleWriter(16).string(name).toBytes();
  }

  /** Returns the name as an array position in a path; null if it is not one. */
  static byte[] position(String name) {
    return isPosition(name) ? new TupleWriter(8).integer(Long.parseLong(name)).toBytes() : null;
  }

  private static boolean isPosition(String name) {
    return !name.isEmpty()
        && name.length() <= MAX_DIGITS
        && name.chars().allMatch(c -> c >= '0' && c <= '9')
        && (name.length() == 1 || name.charAt(0) != '0');
  }

  private static LectusException invalid(String field) {
    return LectusException.badRequest(
        "invalid_field_name", "Invalid field name: " + shortened(field));
  }

  private static String shortened(String field) {
    return field.length() <= LONGEST_NAME_SHOWN
        ? field
        : field.substring(0, field.offsetByCodePoints(0, LONGEST_NAME_SHOWN / 2)) + "…";
  }
}
