package lectus.document.write;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/** How long tombstones are kept, as CouchDB writes it: {@code 30_days}, {@code infinity}. */
final class TimeToLive {
  private static final String MEMBER = "deleted_document_ttl";
  private static final String FOR_EVER = "infinity";

  /** Longer than anybody's; a sum with the time of day is no overflow. */
  private static final long MAX_SECONDS = 10_000L * 365 * 86_400;

  private static final int MAX_DIGITS = 11;

  private static final Map<String, Long> UNITS =
      Map.ofEntries(
          Map.entry("s", 1L),
          Map.entry("sec", 1L),
          Map.entry("second", 1L),
          Map.entry("seconds", 1L),
          Map.entry("min", 60L),
          Map.entry("minute", 60L),
          Map.entry("minutes", 60L),
          Map.entry("h", 3_600L),
          Map.entry("hrs", 3_600L),
          Map.entry("hour", 3_600L),
          Map.entry("hours", 3_600L),
          Map.entry("d", 86_400L),
          Map.entry("day", 86_400L),
          Map.entry("days", 86_400L),
          Map.entry("w", 7 * 86_400L),
          Map.entry("week", 7 * 86_400L),
          Map.entry("weeks", 7 * 86_400L),
          Map.entry("mon", 30 * 86_400L),
          Map.entry("month", 30 * 86_400L),
          Map.entry("months", 30 * 86_400L),
          Map.entry("y", 365 * 86_400L),
          Map.entry("year", 365 * 86_400L),
          Map.entry("years", 365 * 86_400L));

  private TimeToLive() {}

  /**
   * Returns the text in the body of {@code PUT /{db}/_auto_purge}; empty if it has none.
   *
   * @throws LectusException {@code bad_request}, with CouchDB's sentences
   */
  static Optional<String> in(byte[] body) {
    Map<String, JsonValue> members = RequestJson.object(body).members();
    members.forEach(TimeToLive::check);
    return Optional.ofNullable(members.get(MEMBER)).map(it -> ((JsonValue.JsonString) it).value());
  }

  private static void check(String name, JsonValue value) {
    if (!name.equals(MEMBER)) {
      throw LectusException.badRequest("invalid auto purge property");
    }
    boolean isTime =
        value instanceof JsonValue.JsonString text
            && (text.value().equals(FOR_EVER) || seconds(text.value()).isPresent());
    if (!isTime) {
      throw LectusException.badRequest("deleted_document_ttl must be a valid string");
    }
  }

  /** Returns the time in seconds; empty if there is no end to it, or it is none. */
  static OptionalLong seconds(String text) {
    int split = text.indexOf('_');
    Long unit = split < 0 ? null : UNITS.get(text.substring(split + 1));
    String digits = split < 0 ? "" : text.substring(0, split);
    if (unit == null || digits.length() > MAX_DIGITS || !digits.matches("[0-9]+")) {
      return OptionalLong.empty();
    }
    long seconds = Math.min(MAX_SECONDS, Long.parseLong(digits) * unit);
    return seconds > 0 ? OptionalLong.of(seconds) : OptionalLong.empty();
  }

  /** Returns the body of the answer to {@code GET /{db}/_auto_purge}. */
  static String json(Optional<String> text) {
    return text.map(it -> "{\"" + MEMBER + "\":\"" + it + "\"}").orElse("{}");
  }
}
