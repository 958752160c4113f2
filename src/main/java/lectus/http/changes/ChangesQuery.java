package lectus.http.changes;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import lectus.document.RequestJson;
import lectus.document.body.AttachmentsShown;
import lectus.error.LectusException;
import lectus.feed.filter.FeedFilter;
import lectus.feed.filter.SelectorBody;
import lectus.feed.page.FeedOptions;
import lectus.feed.page.Since;
import lectus.http.live.FeedQuery;
import lectus.http.message.QueryParameters;
import lectus.json.JsonValue;

/**
 * The parameters of {@code _changes}.
 *
 * @param until rows after it are not shown; a live feed ends once it has passed it
 * @param descending newest first
 * @param shownBefore with newest first, the last row that a browser was shown
 * @param function of a design document that is to filter the rows, if the options do not
 */
record ChangesQuery(
    FeedQuery feed,
    Since since,
    Optional<Since> until,
    FeedOptions options,
    boolean descending,
    Optional<Since> shownBefore,
    Optional<DesignFunction> function) {

  boolean isLive() {
    return feed.isLive();
  }

  /**
   * @param lastEventId sent by a browser's EventSource when it reconnects; only used by that feed
   * @param body of a POST; null for GET
   * @throws LectusException {@code bad_request}
   */
  static ChangesQuery parse(QueryParameters given, Optional<String> lastEventId, byte[] body) {
    QueryParameters query = given.inLowerCase();
    checkBody(body);
    FeedQuery feed = FeedQuery.parse(query);
    return new ChangesQuery(
        feed,
        feed.since(query, lastEventId).map(Since::parse).orElseGet(Since.Beginning::new),
        query.text("until").map(Since::parse),
        options(query, body),
        query.isTrue("descending"),
        feed.shownBefore(lastEventId).map(Since::parse),
        DesignFunction.of(query));
  }

  /** A body has to be an object even if none of it is used. It may be absent. */
  private static void checkBody(byte[] body) {
    if (body != null && body.length > 0) {
      RequestJson.object(body);
    }
  }

  private static FeedOptions options(QueryParameters query, byte[] body) {
    Optional<SelectorBody> selector = selector(query, body);
    return new FeedOptions(
        allLeaves(query),
        query.isTrue("include_docs"),
        query.isTrue("conflicts"),
        AttachmentsShown.of(query.isTrue("attachments"), query.isTrue("att_encoding_info")),
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
    if (FeedParameters.isNamed(query)) {
      return FeedParameters.filter(query, body);
    }
    return switch (query.text("filter").orElse("")) {
      case "_design" -> new FeedFilter.DesignDocuments();
      case "_doc_ids" -> documentIds(query, body);
      default -> new FeedFilter.None();
    };
  }

  /** If there is a body, the ids of the query are ignored. */
  private static FeedFilter documentIds(QueryParameters query, byte[] body) {
    return body == null
        ? FeedFilter.documentIds(query.json("doc_ids").orElseGet(JsonValue.JsonNull::new))
        : FeedFilter.documentIdsOfBody(body);
  }

  private static int sequenceInterval(QueryParameters query) {
    long interval = query.number("seq_interval", 1, "invalid_seq_interval");
    if (interval < 1) {
      throw LectusException.badRequest("invalid_seq_interval");
    }
    return (int) Math.min(interval, Integer.MAX_VALUE);
  }
}
