package lectus.http.changes;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import lectus.http.message.QueryParameters;

/** Estimates the memory of a parsed filter of a request for changes. */
final class FilterMemory {
  /**
   * A short string in a set, or a value in a tree, with the references to it; and an id in the
   * index by which a tail finds its listeners.
   */
  private static final int VALUE_BYTES = 220;

  /** Text is held as it came and in the form that a filter compares with. */
  private static final int TEXT_COPIES = 2;

  private FilterMemory() {}

  /** Returns an upper bound, in bytes, for a filter in the URL; 0 if there is none. */
  static long of(QueryParameters query) {
    QueryParameters lowered = query.inLowerCase();
    return Stream.of("doc_ids", "channels", "channel")
        .flatMap(name -> lowered.texts(name).stream())
        .mapToLong(text -> of(text.getBytes(StandardCharsets.UTF_8)))
        .sum();
  }

  /**
   * Returns an upper bound, in bytes, before anything is parsed.
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
