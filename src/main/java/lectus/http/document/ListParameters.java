package lectus.http.document;

import java.util.Optional;
import lectus.error.LectusException;
import lectus.http.message.QueryParameters;

/**
 * Which part of a list of indexes is asked for.
 *
 * @param limit empty: all
 */
record ListParameters(long skip, Optional<Long> limit) {
  private static final int MOST_DIGITS = 18;

  /** As in CouchDB, a semicolon separates parameters, too. */
  static ListParameters of(QueryParameters query) {
    Optional<Long> skip = Optional.empty();
    Optional<Long> limit = Optional.empty();
    for (var parameter : query.asMap().entrySet()) {
      String[] pairs = (parameter.getKey() + "=" + parameter.getValue()).split(";");
      for (String pair : pairs) {
        if (pair.startsWith("skip=")) {
          skip = Optional.of(number(pair));
        } else if (pair.startsWith("limit=")) {
          limit = Optional.of(number(pair));
        }
      }
    }
    if (limit.filter(it -> it < 1).isPresent() || skip.filter(it -> it < 0).isPresent()) {
      throw outOfRange();
    }
    return new ListParameters(skip.orElse(0L), limit);
  }

  private static long number(String pair) {
    String text = pair.substring(pair.indexOf('=') + 1);
    if (!text.matches("[+-]?[0-9]{1," + MOST_DIGITS + "}")) {
      throw outOfRange();
    }
    return Long.parseLong(text);
  }

  private static LectusException outOfRange() {
    return LectusException.badRequest(
        "invalid_list_index_params", "Index parameter ranges: limit > 1, skip > 0");
  }
}
