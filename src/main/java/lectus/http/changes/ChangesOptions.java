package lectus.http.changes;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import lectus.changes.filter.FeedFilter;
import lectus.changes.page.FeedOptions;
import lectus.derived.FilterSize;
import lectus.document.AttachmentsShown;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.QueryParameters;
import lectus.http.exchange.DesignFunctions.DesignFunction;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;

/**
 * What the rows of a feed of changes show, as its client wrote it: in a query, with or without a
 * body, or in a message of a socket. Each option is read here for both. Compiling a selector takes
 * too long for an event loop, so the thread that opens the feed does it.
 *
 * @param shown everything but the filter and the fields
 * @param written the JSON of the filter
 * @param filter compiles the filter
 * @param fields an array of the names of the members that documents are shown with
 * @param function of a design document that filters in place of the filter
 * @param query what a message has for the function in place of a request's query
 */
record ChangesOptions(
    FeedOptions shown,
    List<JsonValue> written,
    Supplier<FeedFilter> filter,
    Optional<JsonValue> fields,
    Optional<DesignFunction> function,
    Map<String, JsonValue> query) {
  /** The members of a message that say what rows show. */
  static final Set<String> MEMBERS =
      Set.of(
          "filter",
          "view",
          "query",
          "include_docs",
          "conflicts",
          "style",
          "selector",
          "doc_ids",
          "feed",
          "channels",
          "left",
          "fields");

  /** {@code filter=_feed/name} names a stored feed. */
  private static final String FEED = "_feed/";

  private static final Set<String> BUILT_IN = Set.of("", "_doc_ids", "_selector", "_design");

  /** Without a function. */
  private ChangesOptions(
      FeedOptions shown,
      List<JsonValue> written,
      Supplier<FeedFilter> filter,
      Optional<JsonValue> fields) {
    this(shown, written, filter, fields, Optional.empty(), Map.of());
  }

  /**
   * @param body of a POST; null for GET
   * @throws LectusException {@code bad_request}
   */
  static ChangesOptions ofQuery(QueryParameters query, byte[] body) {
    Optional<JsonObject> object =
        Optional.ofNullable(body).filter(it -> it.length > 0).map(RequestJson::object);
    // CouchDB's clients send the style in any case.
    Optional<String> style = query.text("style").map(it -> it.toLowerCase(Locale.ROOT));
    FeedOptions shown = shown(query::isTrue, style, sequenceInterval(query));
    String name = query.text("filter").orElse("");
    if (name.startsWith(FEED)) {
      List<JsonValue> channels = new ArrayList<>();
      query.json("channels").ifPresent(channels::add);
      object.flatMap(it -> it.get("channels")).ifPresent(channels::add);
      String feed = name.substring(FEED.length());
      return ofFeed(shown, feed, query.texts("channel"), channels, query.isTrue("left"));
    }
    return switch (name) {
      case "_design" ->
          new ChangesOptions(shown, List.of(), FeedFilter.DesignDocuments::new, Optional.empty());
      case "_doc_ids" -> {
        // If there is a body, the ids of the query are ignored.
        Optional<JsonValue> ids =
            body == null ? query.json("doc_ids") : RequestJson.object(body).get("doc_ids");
        yield ofIds(shown, ids.orElseGet(JsonValue.JsonNull::new));
      }
      case "_selector" -> {
        if (body == null) {
          throw LectusException.badRequest("Selector must be specified in POST payload");
        }
        JsonObject given = RequestJson.object(body);
        yield ofSelector(
            shown, given.get("selector").orElseGet(JsonValue.JsonNull::new), given.get("fields"));
      }
      default -> ofFunction(shown, query.text("filter"), query.text("view"), Map.of());
    };
  }

  /** If none is named, everything is shown. */
  private static ChangesOptions ofFunction(
      FeedOptions shown,
      Optional<String> filter,
      Optional<String> view,
      Map<String, JsonValue> query) {
    return new ChangesOptions(
        shown,
        query.isEmpty() ? List.of() : List.of(new JsonObject(query)),
        FeedFilter.None::new,
        Optional.empty(),
        DesignFunction.ofFeed(filter, view),
        query);
  }

  private static int sequenceInterval(QueryParameters query) {
    long interval = query.number("seq_interval", 1, "invalid_seq_interval");
    if (interval < 1) {
      throw LectusException.badRequest("invalid_seq_interval");
    }
    return (int) Math.min(interval, Integer.MAX_VALUE);
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  static ChangesOptions ofMessage(ClientMessage.Members message) {
    if (Stream.of("selector", "doc_ids", "feed", "filter").filter(message::has).count() > 1) {
      throw LectusException.badRequest(
          "A subscription has one of `selector`, `doc_ids`, `feed` and `filter`.");
    }
    FeedOptions shown = shown(message::flag, message.text("style"), 1);
    Optional<JsonValue> fields = message.get("fields");
    Optional<String> feed = message.text("feed");
    if (feed.isEmpty() && (message.has("channels") || message.has("left"))) {
      throw LectusException.badRequest("`channels` and `left` are of a `feed`.");
    }
    if (message.text("filter").filter(BUILT_IN::contains).isPresent()) {
      throw LectusException.badRequest("`doc_ids` and `selector` filter without a `filter`.");
    }
    if (!message.has("filter") && (message.has("view") || message.has("query"))) {
      throw LectusException.badRequest("`view` and `query` are of a `filter`.");
    }
    List<JsonValue> channels = message.get("channels").stream().toList();
    return feed.map(name -> ofFeed(shown, name, List.of(), channels, message.flag("left")))
        .or(() -> message.get("selector").map(it -> ofSelector(shown, it, Optional.empty())))
        .or(() -> message.get("doc_ids").map(it -> ofIds(shown, it)))
        .orElseGet(
            () -> ofFunction(shown, message.text("filter"), message.text("view"), query(message)))
        .with(fields);
  }

  private static Map<String, JsonValue> query(ClientMessage.Members message) {
    JsonValue query = message.get("query").orElseGet(() -> new JsonObject(Map.of()));
    if (query instanceof JsonObject object) {
      return object.members();
    }
    throw LectusException.badRequest("`query` must be an object.");
  }

  private static ChangesOptions ofSelector(
      FeedOptions shown, JsonValue selector, Optional<JsonValue> fields) {
    return new ChangesOptions(
        shown, List.of(selector), () -> FeedFilter.selected(selector), fields);
  }

  private static ChangesOptions ofIds(FeedOptions shown, JsonValue ids) {
    return new ChangesOptions(
        shown, List.of(ids), () -> FeedFilter.documentIds(ids), Optional.empty());
  }

  /**
   * @param channels arrays of names, beside those of {@code channel}
   * @param left whether documents that have left are shown, too
   */
  private static ChangesOptions ofFeed(
      FeedOptions shown,
      String name,
      List<String> channel,
      List<JsonValue> channels,
      boolean left) {
    return new ChangesOptions(
        shown, channels, () -> FeedFilter.ofFeed(name, channel, channels, left), Optional.empty());
  }

  private ChangesOptions with(Optional<JsonValue> others) {
    return new ChangesOptions(shown, written, filter, others, function, query);
  }

  /** An option that is not among the {@link #MEMBERS} is one of queries only. */
  private static FeedOptions shown(
      Predicate<String> flags, Optional<String> style, int sequenceInterval) {
    return new FeedOptions(
        allLeaves(style.orElse("main_only")),
        flags.test("include_docs"),
        flags.test("conflicts"),
        AttachmentsShown.of(flags.test("attachments"), flags.test("att_encoding_info")),
        new FeedFilter.None(),
        sequenceInterval,
        List.of(),
        flags.test("small_docs"));
  }

  private static boolean allLeaves(String style) {
    return switch (style) {
      case "main_only" -> false;
      case "all_docs" -> true;
      default -> throw LectusException.badRequest("The style should be main_only or all_docs");
    };
  }

  /**
   * Returns what the rows show.
   *
   * @throws LectusException {@code bad_request}
   */
  FeedOptions compile() {
    return shown.with(filter.get(), fields.map(FeedFilter::fields).orElse(List.of()));
  }

  /** Returns the approximate memory, in bytes, of the filter and the fields, compiled or not. */
  long memory() {
    return Stream.concat(written.stream(), fields.stream())
        .mapToLong(value -> FilterSize.of(value).memory())
        .sum();
  }
}
