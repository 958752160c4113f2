package lectus.http.changes;

import java.nio.charset.StandardCharsets;
import lectus.http.message.QueryParameters;

/** What the filter of a request for changes takes in memory when it has been parsed. */
final class FilterMemory {
  /**
   * A short string in a set, or a value in a tree, with what points to it; and an id in the index
   * by which a tail finds who wants to see it.
   */
  private static final int VALUE_BYTES = 220;

  /** Text is held as it came, and as what a filter looks for. */
  private static final int TEXT_COPIES = 2;

  private FilterMemory() {}

  /** The same of a filter that is in the URL; 0 if none is. */
  static long of(QueryParameters query) {
    return query
        .inLowerCase()
        .text("doc_ids")
        .map(json -> of(json.getBytes(StandardCharsets.UTF_8)))
        .orElse(0L);
  }

  /**
   * An upper bound, in bytes. It is known before anything is parsed.
   *
   * @param json the body
   */
  static long of(byte[] json) {
    long values = 1;
    for (byte octet : json) {
      if (octet == ',' || octet == '[' || octet == '{') {
        values++;
      }
    }
    return VALUE_BYTES * values + (long) TEXT_COPIES * json.length;
  }
}
