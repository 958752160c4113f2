package lectus.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.error.LectusException;
import lectus.feed.ChangesReader;
import lectus.feed.FeedFilter;
import lectus.feed.FeedOptions;
import lectus.feed.SelectorBody;
import lectus.feed.Since;

/**
 * The parameters of {@code _changes}.
 *
 * @param form of a live feed; empty for the normal one
 * @param heartbeatMillis a line feed comes this often when there is nothing else; empty: never
 * @param timeoutMillis a live feed without heartbeats ends after this time without rows
 */
record ChangesQuery(
    Optional<FeedForm> form,
    Since since,
    FeedOptions options,
    long limit,
    boolean descending,
    OptionalLong heartbeatMillis,
    long timeoutMillis) {
  static final long DEFAULT_TIMEOUT_MILLIS = 60_000;

  boolean isLive() {
    return form.isPresent();
  }

  FeedTerms terms() {
    return terms(limit, heartbeatMillis, timeoutMillis);
  }

  /** The parameters {@code limit}, {@code heartbeat} and {@code timeout}. */
  static FeedTerms terms(QueryParameters query) {
    return terms(limit(query), heartbeat(query), timeout(query));
  }

  private static FeedTerms terms(long limit, OptionalLong heartbeatMillis, long timeoutMillis) {
    OptionalLong timeout =
        heartbeatMillis.isPresent() ? OptionalLong.empty() : OptionalLong.of(timeoutMillis);
    return new FeedTerms(limit, heartbeatMillis, timeout);
  }

  /**
   * @param body of a POST; null for GET
   * @throws LectusException {@code bad_request}, or not_implemented for a feed or filter of
   *     CouchDB's that Lectus does not have
   */
  static ChangesQuery parse(QueryParameters query, byte[] body) {
    return new ChangesQuery(
        form(query),
        since(query),
        options(query, body),
        limit(query),
        query.isTrue("descending"),
        heartbeat(query),
        timeout(query));
  }

  /** The parameter {@code feed}; empty for the normal one. */
  static Optional<FeedForm> form(QueryParameters query) {
    String feed = query.text("feed").orElse("normal");
    return switch (feed) {
      case "normal" -> Optional.empty();
      case "longpoll" -> Optional.of(FeedForm.LONGPOLL);
      case "continuous", "live" -> Optional.of(FeedForm.CONTINUOUS);
      case "eventsource" ->
          throw Requests.notImplemented(
              "feed=eventsource is a part of CouchDB that Lectus does not have.");
      default ->
          throw LectusException.badRequest(
              "Supported `feed` types: normal, continuous, live, longpoll");
    };
  }

  private static Since since(QueryParameters query) {
    String since = query.text("since").or(() -> query.text("last-event-id")).orElse("0");
    return Since.parse(since);
  }

  private static FeedOptions options(QueryParameters query, byte[] body) {
    Optional<SelectorBody> selector = selector(query, body);
    return new FeedOptions(
        allLeaves(query),
        query.isTrue("include_docs"),
        query.isTrue("conflicts"),
        selector.isPresent() ? selector.get().filter() : filter(query, body),
        sequenceInterval(query),
        selector.map(SelectorBody::fields).orElse(List.of()));
  }

  private static boolean allLeaves(QueryParameters query) {
    String style = query.text("style").orElse("main_only");
    return switch (style.toLowerCase(Locale.ROOT)) {
      case "main_only" -> false;
      case "all_docs" -> true;
      default -> throw LectusException.badRequest("The style should be main_only or all_docs");
    };
  }

  private static Optional<SelectorBody> selector(QueryParameters query, byte[] body) {
    if (!query.text("filter").orElse("").equals("_selector")) {
      return Optional.empty();
    }
    if (body == null) {
      throw LectusException.badRequest("Selector must be specified in POST payload");
    }
    return Optional.of(SelectorBody.parse(body));
  }

  private static FeedFilter filter(QueryParameters query, byte[] body) {
    String filter = query.text("filter").orElse("");
    return switch (filter) {
      case "" -> new FeedFilter.None();
      case "_design" -> new FeedFilter.DesignDocuments();
      case "_doc_ids" -> documentIds(query, body);
      default ->
          throw Requests.notImplemented(
              "filter=" + filter + " is a part of CouchDB that Lectus does not have.");
    };
  }

  private static FeedFilter documentIds(QueryParameters query, byte[] body) {
    if (body != null && body.length > 0) {
      return FeedFilter.documentIdsOfBody(body);
    }
    String ids =
        query
            .text("doc_ids")
            .orElseThrow(
                () -> LectusException.badRequest("`doc_ids` filter parameter is not a list."));
    return FeedFilter.documentIds(ids.getBytes(StandardCharsets.UTF_8));
  }

  private static int sequenceInterval(QueryParameters query) {
    long interval = number(query, "seq_interval", 1, "invalid_seq_interval");
    if (interval < 1) {
      throw LectusException.badRequest("invalid_seq_interval");
    }
    return (int) Math.min(interval, Integer.MAX_VALUE);
  }

  /** {@code -1} is no limit. */
  private static long limit(QueryParameters query) {
    String complaint = "The limit parameter should be a non-negative integer";
    long limit = number(query, "limit", ChangesReader.NO_LIMIT, complaint);
    if (limit < -1) {
      throw LectusException.badRequest(complaint);
    }
    return limit == -1 ? ChangesReader.NO_LIMIT : Math.min(limit, ChangesReader.NO_LIMIT);
  }

  private static OptionalLong heartbeat(QueryParameters query) {
    if (query.get("heartbeat") == null) {
      return OptionalLong.empty();
    }
    if (query.isTrue("heartbeat")) {
      return OptionalLong.of(DEFAULT_TIMEOUT_MILLIS);
    }
    String complaint = "The heartbeat value should be a positive integer (in milliseconds).";
    long heartbeat = number(query, "heartbeat", 0, complaint);
    if (heartbeat < 1) {
      throw LectusException.badRequest(complaint);
    }
    return OptionalLong.of(heartbeat);
  }

  private static long timeout(QueryParameters query) {
    String complaint = "The timeout parameter should be a non-negative integer";
    long timeout = number(query, "timeout", DEFAULT_TIMEOUT_MILLIS, complaint);
    if (timeout < 0) {
      throw LectusException.badRequest(complaint);
    }
    return Math.min(timeout, DEFAULT_TIMEOUT_MILLIS);
  }

  private static long number(QueryParameters query, String name, long fallback, String complaint) {
    String text = query.get(name);
    if (text == null) {
      return fallback;
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw LectusException.badRequest(complaint);
    }
  }
}
