package lectus.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The media types that a client accepts, by the rules of mochiweb, which CouchDB uses. Every q
 * above 0 accepts, however small, and beside {@code *}{@code /*} a type is refused only by its own
 * name or its family's with q 0. A range with parameters, such as {@code
 * application/json;charset=utf-8}, is another type.
 */
public final class AcceptedTypes {
  private static final String ANY = "*/*";
  private static final AcceptedTypes ALL = new AcceptedTypes(List.of(new Range(ANY, true)));
  private static final Pattern QUALITY = Pattern.compile("0(\\.\\d{1,3})?|1(\\.0{1,3})?");
  private static final Pattern ZERO = Pattern.compile("0(\\.0{1,3})?");
  private static final Pattern PARAMETER = Pattern.compile("[^=]+=[^=]+");

  private final List<Range> ranges;

  /**
   * @param wanted whether its q is above 0
   */
  private record Range(String type, boolean wanted) {}

  private AcceptedTypes(List<Range> ranges) {
    this.ranges = ranges;
  }

  /**
   * @param headers the values of all {@code Accept} headers. Without any, or if one cannot be read,
   *     all types are accepted: RFC 9110, section 12.5.1, lets a server disregard the header
   */
  public static AcceptedTypes of(List<String> headers) {
    List<Range> ranges = new ArrayList<>();
    for (String header : headers) {
      for (String range : header.toLowerCase(Locale.ROOT).split(",")) {
        Optional<Range> read = range.isEmpty() ? Optional.empty() : read(range);
        if (read.isEmpty() && !range.isEmpty()) {
          return ALL;
        }
        read.ifPresent(ranges::add);
      }
    }
    return headers.isEmpty() ? ALL : new AcceptedTypes(ranges);
  }

  /** Whether the client accepts a type such as {@code application/json}. */
  public boolean include(String type) {
    String family = type.substring(0, type.indexOf('/')) + "/*";
    boolean wanted = contain(ANY, true) || contain(type, true) || contain(family, true);
    return wanted && !contain(type, false) && !contain(family, false);
  }

  private boolean contain(String type, boolean wanted) {
    return ranges.contains(new Range(type, wanted));
  }

  /** Returns empty if the range cannot be read. */
  private static Optional<Range> read(String range) {
    String[] parts = range.split(";");
    StringBuilder type = new StringBuilder(parts.length == 0 ? "" : parts[0].strip());
    Optional<String> quality = Optional.empty();
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].replaceAll("\\s", "");
      if (parameter.startsWith("q=") && quality.isEmpty()) {
        quality = Optional.of(parameter.substring(2));
      } else if (!parts[i].isEmpty() && !PARAMETER.matcher(parameter).matches()) {
        return Optional.empty();
      } else if (!parts[i].isEmpty()) {
        type.append(';').append(parameter);
      }
    }
    return quality.isEmpty() || QUALITY.matcher(quality.get()).matches()
        ? Optional.of(new Range(type.toString(), !isZero(quality)))
        : Optional.empty();
  }

  private static boolean isZero(Optional<String> quality) {
    return quality.isPresent() && ZERO.matcher(quality.get()).matches();
  }
}
