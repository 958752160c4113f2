package lectus.http.database;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lectus.database.NameRange;
import lectus.http.message.QueryParameters;
import lectus.json.JsonInput;

/** The parameters of lists of databases, as a range of names. */
final class NameQuery {
  /** Sorts after every legal name. */
  private static final String BEHIND_ALL = "\uffff";

  private NameQuery() {}

  /**
   * @throws lectus.error.LectusException {@code query_parse_error}, {@code bad_request}
   */
  static NameRange parse(QueryParameters query) {
    return new NameRange(
        key(query, "startkey", "start_key", "key"),
        key(query, "endkey", "end_key", "key"),
        query.flag("descending", false),
        query.count("skip").orElse(0),
        query.count("limit").orElse(Long.MAX_VALUE));
  }

  private static Optional<String> key(QueryParameters query, String... names) {
    for (String name : names) {
      String json = query.get(name);
      if (json != null) {
        return Optional.of(name(json));
      }
    }
    return Optional.empty();
  }

  /** In CouchDB's collation numbers and literals sort before strings, arrays and objects after. */
  private static String name(String json) {
    try (JsonInput input = JsonInput.of(json.getBytes(StandardCharsets.UTF_8))) {
      JsonToken token = input.next();
      if (token == JsonToken.VALUE_STRING) {
        String name = input.text();
        input.expectEnd();
        return name;
      }
      return token.isStructStart() ? BEHIND_ALL : "";
    }
  }
}
