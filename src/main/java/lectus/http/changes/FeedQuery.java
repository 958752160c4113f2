package lectus.http.changes;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.ResumePoint;
import lectus.changes.page.Since;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.changes.LiveListener.FeedTerms;

/**
 * The parameters that all feeds share.
 *
 * @param form of a live feed; empty for the normal one
 * @param limit the number of rows after which the feed ends
 * @param heartbeatMillis the interval of heartbeats when there is nothing else; empty: the
 *     parameter was not given
 * @param timeoutMillis the time without rows after which a live feed without heartbeats ends;
 *     empty: the parameter was not given
 * @param since where it begins
 * @param until rows after it are not shown; a live feed ends once it has passed it
 * @param descending newest first
 * @param shownBefore with newest first, the last row that a browser was shown before it
 *     reconnected: it goes on before that row
 */
public record FeedQuery<P extends ResumePoint<P>>(
    Optional<FeedForm> form,
    long limit,
    OptionalLong heartbeatMillis,
    OptionalLong timeoutMillis,
    Since<P> since,
    Optional<Since<P>> until,
    boolean descending,
    Optional<Since<P>> shownBefore) {
  private static final long DEFAULT_TIMEOUT_MILLIS = 60_000;

  /** Shorter than the time-out of the usual proxy, which is a minute. */
  private static final long DEFAULT_EVENTS_HEARTBEAT_MILLIS = 25_000;

  /**
   * @param lastEventId sent by a browser's EventSource when it reconnects; only used by that feed
   * @param since parses a position
   * @throws LectusException {@code bad_request}
   */
  static <P extends ResumePoint<P>> FeedQuery<P> parse(
      QueryParameters query, Optional<String> lastEventId, Function<String, Since<P>> since) {
    Optional<FeedForm> form = form(query);
    Optional<String> shown =
        lastEventId.filter(id -> form.filter(FeedForm.EVENTSOURCE::equals).isPresent());
    String begin =
        shown.or(() -> query.text("since")).or(() -> query.text("last-event-id")).orElse("0");
    return new FeedQuery<>(
        form,
        limit(query),
        heartbeat(query),
        timeout(query),
        since.apply(begin),
        query.text("until").map(since),
        query.isTrue("descending"),
        shown.filter(id -> !id.equals("0")).map(since));
  }

  /** Whether the feed continues after all existing rows. */
  public boolean isLive() {
    return form.isPresent();
  }

  /**
   * Returns how a feed ends that is the body of an answer. The normal one does by itself, and line
   * feeds in it mean nothing.
   */
  FeedTerms terms() {
    if (heartbeatMillis.isPresent()) {
      return new FeedTerms(limit, heartbeatMillis, OptionalLong.empty());
    }
    if (form.isEmpty()) {
      return new FeedTerms(limit, OptionalLong.of(DEFAULT_TIMEOUT_MILLIS), OptionalLong.empty());
    }
    if (timeoutMillis.isEmpty() && form.filter(FeedForm.EVENTSOURCE::equals).isPresent()) {
      OptionalLong heartbeat = OptionalLong.of(DEFAULT_EVENTS_HEARTBEAT_MILLIS);
      return new FeedTerms(limit, heartbeat, OptionalLong.empty());
    }
    OptionalLong timeout = OptionalLong.of(timeoutMillis.orElse(DEFAULT_TIMEOUT_MILLIS));
    return new FeedTerms(limit, OptionalLong.empty(), timeout);
  }

  /**
   * Returns the same for a WebSocket. Its pings are not the feed's, so a given time-out always
   * applies.
   */
  FeedTerms socketTerms() {
    OptionalLong timeout = heartbeatMillis.isPresent() ? OptionalLong.empty() : timeoutMillis;
    return new FeedTerms(limit, OptionalLong.empty(), timeout);
  }

  private static Optional<FeedForm> form(QueryParameters query) {
    String feed = query.text("feed").orElse("normal");
    return switch (feed) {
      case "normal" -> Optional.empty();
      case "longpoll" -> Optional.of(FeedForm.LONGPOLL);
      case "continuous", "live" -> Optional.of(FeedForm.CONTINUOUS);
      case "eventsource" -> Optional.of(FeedForm.EVENTSOURCE);
      default ->
          throw LectusException.badRequest(
              "Supported `feed` types: normal, continuous, live, longpoll, eventsource");
    };
  }

  private static long limit(QueryParameters query) {
    long limit =
        query.number(
            "limit",
            ChangesReader.NO_LIMIT,
            0,
            "The limit parameter should be a non-negative integer",
            "The limit value should be a non-negative integer");
    return Math.min(limit, ChangesReader.NO_LIMIT);
  }

  private static OptionalLong heartbeat(QueryParameters query) {
    if (query.get("heartbeat") == null) {
      return OptionalLong.empty();
    }
    if (query.isTrue("heartbeat")) {
      return OptionalLong.of(DEFAULT_TIMEOUT_MILLIS);
    }
    return OptionalLong.of(
        query.number(
            "heartbeat",
            DEFAULT_TIMEOUT_MILLIS,
            1,
            "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).",
            "The heartbeat value should be a positive integer (in milliseconds)."));
  }

  private static OptionalLong timeout(QueryParameters query) {
    if (query.get("timeout") == null) {
      return OptionalLong.empty();
    }
    long timeout =
        query.number(
            "timeout",
            DEFAULT_TIMEOUT_MILLIS,
            0,
            "The timeout parameter should be a non-negative integer",
            "The timeout value should be a non-negative integer");
    return OptionalLong.of(Math.min(timeout, DEFAULT_TIMEOUT_MILLIS));
  }
}
